"""One column of a fit of rows, as a posterior of its own: whatever the others are, or given the values of some."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from privmix.curves.columns import column_given, need_columns, only_columns
from privmix.frames.read import Labels, add_labels, read_labels
from privmix.model import PrivateMixture
from privmix.posterior.posterior import Posterior
from privmix.posterior.run import to_tree
from privmix.samplers.base import Draws


def refused(name: str, reason: str) -> Callable[..., Any]:
    """Return a method that says why there is no answer, and where there is one."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise ValueError(f"{name} {reason}")

    method.__name__, method.__doc__ = name, f"Refuse: {name} {reason}"
    return method


JOINT = "needs the chains of all columns: use the fit that this column was taken from, and take the column again."


class Marginal(Posterior):
    """One column of a fit of rows: a posterior of one number a record, or of one category.

    Made by ``Posterior.marginal``. Its records are those that reported the column. It cannot go on by itself, because
    the chains moved all columns together.
    """

    resume = refused("resume", JOINT)
    save = refused("save", JOINT)
    informativeness = refused("informativeness", f"refits a model by itself, and {JOINT[6:]}")

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write a report of this column, as ``Posterior.report`` does, without refits.

        Parameters
        ----------
        path, options
            As in ``Posterior.report``.
        """
        super().report(path, **{"informativeness": False, **options})


OF_ALL = "is about the release, which is not that of records with these values: ask the fit, or its marginal(name)."


class Conditional(Marginal):
    """One column given the values of others: the law of that column among records with these values.

    Made by ``Posterior.conditional``: density, moments, quantiles and probabilities, with bands.
    """

    predictive_check = refused("predictive_check", OF_ALL)
    check = refused("check", OF_ALL)
    report = refused("report", OF_ALL)
    clustering = refused("clustering", OF_ALL)
    credible_ball = refused("credible_ball", OF_ALL)
    similarity = refused("similarity", OF_ALL)
    predict = refused("predict", OF_ALL)
    predict_proba = refused("predict_proba", OF_ALL)

    def plot(self, **options: Any) -> Any:
        """Draw the density with its bands, without the release.

        Parameters
        ----------
        options
            As in ``Posterior.plot``.
        """
        return super().plot(**{"release": False, **options})


def marginal(posterior: Posterior, name: str) -> Marginal:
    """Return one column of a fit; `Posterior.marginal` documents it."""
    product = need_columns(posterior.model.kernel, "marginal")
    return _of_column(Marginal, posterior, name, only_columns(product, posterior.arrays, [name])[1])


def conditional(posterior: Posterior, name: str, given: Mapping[str, Any]) -> Conditional:
    """Return one column given others; `Posterior.conditional` documents it."""
    product = need_columns(posterior.model.kernel, "conditional")
    return _of_column(Conditional, posterior, name, column_given(product, posterior.arrays, name, given))


def _of_column(kind: type[Any], posterior: Posterior, name: str, draws: Draws) -> Any:
    model: Any = posterior.model
    j = model.mechanism.each.column(name)
    mechanism, z, there = model.mechanism.column_alone(posterior.plan.z, j)
    alone = PrivateMixture(mechanism, model.kernel.children[j], model.prior)
    plan = dataclasses.replace(posterior.plan, model=alone, z=z)
    if draws.allocation.shape[-1]:
        draws = draws._replace(allocation=np.ascontiguousarray(draws.allocation[..., there]))
    tree = to_tree(plan, draws)
    tree.attrs |= posterior.datatree.attrs
    if not model.mechanism.is_global:
        labels = {key: values[there] for key, values in read_labels(posterior.datatree).coords.items()}
        add_labels(tree, Labels(labels, name))
    return kind(plan, draws, posterior.ends, tree)
