"""From a pandas frame to ArviZ: labels and names are kept all the way, and nothing is converted by hand.

Run it: it prints a summary and the clusters beside the release, and writes density.png and trace.png.
"""

# %% A frame of confidential incomes, one row a person
import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import privmix

rng = np.random.default_rng(1)
income = rng.choice([20.0, 45.0, 80.0], 120, p=[0.4, 0.4, 0.2]) + 3.0 * rng.standard_normal(120)
people = pd.DataFrame({"income": income}, index=pd.Index([f"person {i}" for i in range(120)], name="who"))

# %% What is released: the same kind of column, with noise. Names of people would not be published; here they are kept
mechanism = privmix.mechanisms.Laplace(epsilon=30.0, bounds=(0.0, 120.0))
released = mechanism.privatize(people["income"], seed=2).to_frame()

# %% Fit
posterior = privmix.fit(released["income"], mechanism, draws=1000, chains=2, thin=20, seed=3)

# %% ArviZ reads the draws as they are
names = ["n_clusters", "base_location"]
print(az.summary(posterior.dataset, var_names=names, kind="diagnostics"))
az.plot_trace(posterior.dataset, var_names=names)
plt.savefig("trace.png")

# %% The density of the incomes, noise taken off
band = posterior.density()
figure, axes = plt.subplots()
band["mean"].plot(ax=axes)
axes.fill_between(band["y"], band["lower"], band["upper"], alpha=0.3)
figure.savefig("density.png")

# %% Clusters join to the frame by its index
clusters = released.join(posterior.clustering().to_frame())
print(clusters.groupby("cluster")["income"].agg(["size", "median"]).round(1))
