import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import privmix
from privmix import Posterior, Release, kernels, mechanisms, priors, samplers
from privmix.cli import app
from privmix.cli import demo as demo_module
from privmix.cli import fit as fit_module
from privmix.release import IDEALISED
from privmix.report.tables import number

QUICK = ["--draws", "40", "--warmup", "20", "--thin", "1", "--chains", "2", "--seed", "1"]
LAPLACE = ["--mechanism", "laplace", "--epsilon", "10", "--bounds", "-10", "10"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Run inside a folder that holds a table of confidential data."""
    monkeypatch.chdir(tmp_path)
    y = np.random.default_rng(1).normal(0.0, 3.0, 30)
    rows = [f"{value!r},{'abc'[i % 3]}" for i, value in enumerate(y.tolist())]
    (tmp_path / "raw.csv").write_text("\n".join(["y,name", *rows]) + "\n")
    return tmp_path


@pytest.fixture
def release(here):
    """Return a release beside the data."""
    y = np.random.default_rng(1).normal(0.0, 3.0, 30)
    made = Release.from_data(y, mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0)), seed=2)
    made.save(here / "release.csv")
    return made


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# Help and version.


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_lists_the_commands(arguments):
    result = run(*arguments)
    assert result.exit_code == 0
    assert all(name in result.stdout for name in ("demo", "privatize", "fit", "Example:"))


@pytest.mark.parametrize("command", ["demo", "privatize", "fit"])
def test_help_of_a_command_has_an_example(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example: privmix {command}" in result.stdout


def test_version():
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"privmix {privmix.__version__}\n")


# privatize.


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_privatize_writes_a_release(here, suffix):
    result = run("privatize", "raw.csv", "--column", "y", *LAPLACE, "--output", f"out.{suffix}", "--notes", "a survey")
    assert result.exit_code == 0, result.output
    made = Release.load(f"out.{suffix}")
    assert made.mechanism == mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0))
    assert (len(made), made.notes) == (30, "a survey")
    assert "ε-differential privacy, ε = 10" in result.stdout
    assert IDEALISED in result.stdout
    assert result.stderr == ""


def test_privatize_is_fresh_without_a_seed_and_repeatable_with_one(here):
    for name in ("a", "b"):
        run("privatize", "raw.csv", *LAPLACE, "--output", f"{name}.csv")
        assert (
            "warning: whoever guesses the seed"
            in run("privatize", "raw.csv", *LAPLACE, "--output", f"{name}-seeded.csv", "--seed", "7654321").stderr
        )
    assert not np.array_equal(Release.load("a.csv").z, Release.load("b.csv").z)
    assert np.array_equal(Release.load("a-seeded.csv").z, Release.load("b-seeded.csv").z)
    assert "7654321" not in (here / "a-seeded.csv.json").read_text()
    assert "seed" not in json.loads((here / "a-seeded.csv.json").read_text())


def test_privatize_counts_what_it_clips(here):
    result = run(
        "privatize", "raw.csv", "--mechanism", "laplace", "--epsilon", 1, "--bounds", -1, 1, "--output", "o.csv"
    )
    y = np.random.default_rng(1).normal(0.0, 3.0, 30)
    clipped = int((np.abs(y) > 1.0).sum())
    assert result.exit_code == 0
    assert f"warning: {clipped} of 30 values lie outside the bounds [-1, 1] and were clipped." in result.stderr
    row = next(line for line in result.stdout.splitlines() if "values clipped" in line)
    assert str(clipped) in row


@pytest.mark.parametrize(
    ("options", "mechanism"),
    [
        (["gaussian", "--epsilon", 2, "--delta", 1e-6], mechanisms.Gaussian(epsilon=2.0, delta=1e-6, bounds=(-10, 10))),
        (["gaussian", "--rho", 0.5], mechanisms.Gaussian(rho=0.5, bounds=(-10, 10))),
        (["laplace", "--rho", 0.5], mechanisms.Laplace(rho=0.5, bounds=(-10, 10))),
        (["laplace", "--scale", 4], mechanisms.Laplace(scale=4.0, bounds=(-10, 10))),
        (["haar", "--epsilon", 2, "--levels", 1], mechanisms.HaarWavelet(levels=1, epsilon=2.0, bounds=(-10, 10))),
    ],
)
def test_privatize_builds_each_mechanism(here, options, mechanism):
    result = run("privatize", "raw.csv", "--mechanism", *options, "--bounds", -10, 10, "--output", "out.csv")
    assert result.exit_code == 0, result.output
    assert Release.load("out.csv").mechanism == mechanism


def write_bad_inputs(folder):
    (folder / "empty.csv").write_text("")
    (folder / "strings.csv").write_text("y\n1.5\nmany\n")
    (folder / "nan.csv").write_text("y\n1.5\nnan\n2.5\n")
    (folder / "blank.csv").write_text("y,x\n1.5,2\n,3\n")


OUT = ["--output", "out.csv"]
BOUNDS = ["--bounds", "-10", "10"]
PRIVATIZE_ERRORS = {
    "unknown file": (["nothing.csv", *LAPLACE, *OUT], "nothing.csv does not exist"),
    "unknown column": (["raw.csv", "--column", "income", *LAPLACE, *OUT], "has no column 'income'; it has 'y', 'name'"),
    "epsilon zero": (["raw.csv", "--mechanism", "laplace", "--epsilon", 0, *BOUNDS, *OUT], "epsilon"),
    "epsilon negative": (["raw.csv", "--mechanism", "laplace", "--epsilon", -1, *BOUNDS, *OUT], "epsilon"),
    "delta one": (["raw.csv", "--mechanism", "gaussian", "--epsilon", 1, "--delta", 1, *BOUNDS, *OUT], "delta"),
    "delta missing": (
        ["raw.csv", "--mechanism", "gaussian", "--epsilon", 1, *BOUNDS, *OUT],
        "give epsilon= and delta= together",
    ),
    "delta for laplace": (["raw.csv", *LAPLACE, "--delta", 1e-6, *OUT], "--delta was given, but laplace does not take"),
    "two budgets": (["raw.csv", *LAPLACE, "--rho", 1, *OUT], "exactly one of"),
    "no budget": (["raw.csv", "--mechanism", "laplace", *BOUNDS, *OUT], "exactly one of"),
    "reversed bounds": (
        ["raw.csv", "--mechanism", "laplace", "--epsilon", 1, "--bounds", 10, -10, *OUT],
        "lower < upper; got (10, -10)",
    ),
    "missing bounds": (["raw.csv", "--mechanism", "laplace", "--epsilon", 1, *OUT], "--bounds LO HI is missing"),
    "missing bounds, haar": (["raw.csv", "--mechanism", "haar", "--epsilon", 1, *OUT], "--bounds LO HI is missing"),
    "no guarantee": (["raw.csv", "--mechanism", "laplace", "--scale", 1, *OUT], "--bounds LO HI is missing"),
    "strings": (["strings.csv", *LAPLACE, *OUT], "row 2 of column 'y' in strings.csv is 'many', not a finite number"),
    "empty file": (["empty.csv", *LAPLACE, *OUT], "empty.csv is empty"),
    "NaN": (["nan.csv", *LAPLACE, *OUT], "row 2 of column 'y' in nan.csv is 'nan', not a finite number"),
    "blank cell": (["blank.csv", "--column", "y", *LAPLACE, *OUT], "row 2 of column 'y' in blank.csv is empty"),
    "unknown mechanism": (["raw.csv", "--mechanism", "magic", "--epsilon", 1, *BOUNDS, *OUT], "'magic' is not one of"),
    "missing folder": (["raw.csv", *LAPLACE, "--output", "no/out.csv"], "the output folder no does not exist"),
    "unknown suffix": (["raw.csv", *LAPLACE, "--output", "out.txt"], "out.txt ends in '.txt'"),
    "output is a folder": (["raw.csv", *LAPLACE, "--output", "folder.csv"], "folder.csv is a folder"),
    "output is the input": (["raw.csv", *LAPLACE, "--output", "raw.csv"], "is the input itself, which would be lost"),
    "missing output": (["raw.csv", *LAPLACE], "'--output'"),
    "not a number": (["raw.csv", "--mechanism", "laplace", "--epsilon", "ten", *BOUNDS, *OUT], "'--epsilon'"),
}


@pytest.mark.parametrize("case", PRIVATIZE_ERRORS)
def test_privatize_errors_are_one_line_and_leave_nothing(here, case):
    write_bad_inputs(here)
    (here / "folder.csv").mkdir()
    before = {name: (here / name).read_bytes() for name in names(here) if (here / name).is_file()}
    arguments, message = PRIVATIZE_ERRORS[case]
    check_error(run("privatize", *arguments), message)
    assert {name: (here / name).read_bytes() for name in names(here) if (here / name).is_file()} == before


def check_error(result, message):
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert result.stdout == ""


def test_traceback_is_shown_on_request(here):
    result = run("--traceback", "privatize", "nothing.csv", *LAPLACE, *OUT)
    assert result.exit_code == 2
    assert "Traceback (most recent call last)" in result.stderr
    assert "error: nothing.csv does not exist" in result.stderr


# fit.


def test_fit_is_that_of_the_library(release, here):
    result = run("fit", "release.csv", "--output", "fit.nc", *QUICK)
    assert result.exit_code == 0, result.output
    assert names(here) == ["fit.nc", "fit.png", "raw.csv", "release.csv", "release.csv.json"]
    fitted = privmix.load("fit.nc")
    expected = privmix.fit(release, draws=40, warmup=20, thin=1, chains=2, seed=1)
    assert fitted.model == expected.model == privmix.default_model(release.mechanism)
    assert fitted.datatree["posterior"].to_dataset().equals(expected.datatree["posterior"].to_dataset())
    assert all(word in result.stdout for word in ("n_clusters", "acceptance", "R-hat", "ε = 10", "wrote fit.nc"))
    assert (here / "fit.png").read_bytes().startswith(b"\x89PNG")


def test_fit_warns_of_chains_that_are_too_short(release):
    result = run("fit", "release.csv", "--output", "fit.nc", *QUICK)
    assert "warning: chains: the worst R-hat is" in result.stderr


def test_fit_of_a_plain_column_with_options(here):
    (here / "z.csv").write_text("z\n" + "\n".join(map(str, np.linspace(-12.0, 12.0, 30))) + "\n")
    extra = [
        "--kernel",
        "normal",
        "--sampler",
        "slice",
        "--concentration-prior",
        2,
        4,
        "--picture",
        "p.svg",
        "--progress",
    ]
    result = run("fit", "z.csv", "--column", "z", *LAPLACE, "--output", "fit.nc", *extra, *QUICK)
    assert result.exit_code == 0, result.output
    fitted = privmix.load("fit.nc")
    assert fitted.model.kernel == kernels.Normal()
    assert fitted.model.prior == priors.DirichletProcess((2.0, 4.0))
    assert fitted.model.mechanism == mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0))
    assert fitted.sampler == samplers.Slice()
    assert fitted.model.restricted_to is None
    assert names(here) == ["fit.nc", "p.svg", "raw.csv", "z.csv"]


def test_beta_kernel_takes_the_bounds_and_auxiliaries_go_to_neal5():
    from privmix.cli.fit import build_model, build_sampler

    mechanism = mechanisms.Laplace(epsilon=1.0, bounds=(2.0, 5.0))
    assert build_model("beta", mechanism, None).kernel == kernels.Beta(bounds=(2.0, 5.0))
    assert build_sampler("neal5", 3) == samplers.Neal5(auxiliaries=3)


def test_every_kernel_of_the_library_has_a_name_here():
    from privmix.cli.fit import KERNELS, build_model

    mechanism = mechanisms.Gaussian(scale=2.0, bounds=(2.0, 5.0))
    built = {name: build_model(name, mechanism, None) for name in KERNELS}
    found = {type(model.kernel).__name__ for model in built.values()}
    assert found == set(kernels.__all__) - {"Kernel", "NormalKernel", "Product", "Categorical", "MultivariateNormal"}
    assert built.pop("auto") == privmix.default_model(mechanism)
    assert {model.restricted_to for model in built.values()} == {None}
    assert built["noisy-normal"].kernel == kernels.NoisyNormal(noise=2.0)
    with pytest.raises(ValueError, match=r"^NoisyNormal holds the standard deviation .* RandomizedResponse has no one"):
        build_model("noisy-normal", mechanisms.RandomizedResponse(cells=4, epsilon=1.0, bounds=(0.0, 1.0)), 1.0)


def test_every_sampler_of_the_library_has_a_name_here():
    from privmix.cli.fit import SAMPLERS, build_sampler

    offered = {type(build_sampler(name, None)).__name__ for name in SAMPLERS}
    assert offered == set(samplers.__all__) - {"Sampler"}
    assert build_sampler("split-merge", None) == samplers.SplitMerge()


FIT = ["--output", "fit.nc"]
FIT_ERRORS = {
    "unknown file": (["nothing.csv", *FIT], "nothing.csv does not exist"),
    "draws": (["release.csv", *FIT, "--draws", 0], "draws must be a whole number of at least 1; got 0"),
    "chains": (["release.csv", *FIT, "--chains", 0], "chains must be a whole number of at least 1; got 0"),
    "warmup": (["release.csv", *FIT, "--warmup", -1], "warmup must be a whole number of at least 0; got -1"),
    "auxiliaries": (
        ["release.csv", *FIT, "--sampler", "neal5", "--auxiliaries", 0],
        "auxiliaries must be a whole number of at least 1",
    ),
    "auxiliaries of slice": (
        ["release.csv", *FIT, "--sampler", "slice", "--auxiliaries", 2],
        "belongs to --sampler neal5",
    ),
    "unknown sampler": (["release.csv", *FIT, "--sampler", "gibbs"], "'gibbs' is not one of"),
    "unknown mechanism": (["raw.csv", *FIT, "--mechanism", "magic"], "'magic' is not one of"),
    "missing folder": (["release.csv", "--output", "no/fit.nc"], "the output folder no does not exist"),
    "missing folder of picture": (
        ["release.csv", *FIT, "--picture", "no/fit.png"],
        "the output folder no does not exist",
    ),
    "suffix": (["release.csv", "--output", "fit.txt"], "fit.txt ends in '.txt', which names no known format. Use .nc"),
    "picture's suffix": (["release.csv", *FIT, "--picture", "fit.doc"], "names no format of pictures"),
    "no sidecar": (["raw.csv", *FIT], "has no raw.csv.json beside it"),
    "no metadata": (["plain.parquet", *FIT], "holds no metadata"),
    "options without mechanism": (["raw.csv", *FIT, "--epsilon", 1], "--mechanism is missing"),
    "mechanism twice": (["release.csv", *FIT, *LAPLACE], "says itself what mechanism made it"),
    "mechanism twice, Parquet": (["release.parquet", *FIT, *LAPLACE], "says itself what mechanism made it"),
    "unknown column": (["raw.csv", *FIT, *LAPLACE, "--column", "z"], "has no column 'z'"),
    "epsilon": (["raw.csv", *FIT, "--mechanism", "laplace", "--epsilon", 0, *BOUNDS], "epsilon"),
    "missing bounds": (["raw.csv", *FIT, "--mechanism", "laplace", "--epsilon", 1], "--bounds LO HI is missing"),
    "auto without bounds": (["raw.csv", *FIT, "--mechanism", "laplace", "--scale", 1], "--kernel auto follows from"),
    "haar column": (["raw.csv", *FIT, "--mechanism", "haar", "--epsilon", 1, *BOUNDS], "several numbers a record"),
    "concentration": (["release.csv", *FIT, "--concentration", -1], "concentration must be a positive number"),
    "concentration twice": (
        ["release.csv", *FIT, "--concentration", 1, "--concentration-prior", 1, 1],
        "--concentration and --concentration-prior exclude one another",
    ),
    "strings": (["strings.csv", *FIT, *LAPLACE], "row 2 of column 'y' in strings.csv is 'many'"),
    "empty file": (["empty.csv", *FIT, *LAPLACE], "empty.csv is empty"),
    "NaN": (["nan.csv", *FIT, *LAPLACE], "row 2 of column 'y' in nan.csv is 'nan'"),
}


@pytest.mark.parametrize("case", FIT_ERRORS)
def test_fit_errors_are_one_line_and_leave_nothing(release, here, case):
    import pyarrow
    from pyarrow import parquet

    write_bad_inputs(here)
    release.save(here / "release.parquet")
    parquet.write_table(pyarrow.table({"z": [1.0, 2.0]}), here / "plain.parquet")
    before = names(here)
    arguments, message = FIT_ERRORS[case]
    check_error(run("fit", *arguments), message)
    assert names(here) == before


@pytest.mark.parametrize("elsewhere", [True, False])
def test_fit_on_a_full_disk_keeps_its_draws_elsewhere(release, here, monkeypatch, elsewhere):
    save, spare = Posterior.save, here / "spare"
    spare.mkdir()

    def full(posterior, path):
        if not (elsewhere and spare in Path(path).parents):
            raise OSError(f"{path} cannot be written: the disk is full.")
        save(posterior, path)

    monkeypatch.setattr(Posterior, "save", full)
    monkeypatch.setattr("tempfile.tempdir", str(spare))
    monkeypatch.setenv("HOME", str(spare))
    result = run("fit", "release.csv", "--output", "fit.nc", *QUICK)
    kept = list(spare.rglob("*.nc"))
    assert len(kept) == elsewhere
    assert result.exit_code == 2
    end = f"The draws are kept in {kept[0]}: move that file." if kept else "elsewhere either: they are lost."
    assert "\nerror: fit.nc cannot be written: the disk is full. " in result.stderr
    assert result.stderr.endswith(f"{end}\n")
    assert names(here) == ["raw.csv", "release.csv", "release.csv.json", "spare"]
    assert (privmix.load(kept[0]).draws == 40) if kept else not list(spare.iterdir())


def test_fit_after_ctrl_c_makes_its_tables_of_some_draws(release, here, monkeypatch):
    sample = fit_module._sample

    def interrupted(*given):
        posterior = sample(*given)
        posterior.datatree.attrs["complete"] = 0
        return posterior

    monkeypatch.setattr(fit_module, "_sample", interrupted)
    monkeypatch.setattr(fit_module, "MOST_DRAWS_IN_HASTE", 20)
    result = run("fit", "release.csv", "--output", "fit.nc", *QUICK)
    assert result.exit_code == 130
    assert "2 chains × 10 draws" in result.stdout
    assert privmix.load(here / "fit.nc").draws == 40


@pytest.mark.parametrize(
    ("value", "bounds", "told"),
    [
        ("1e300", "0 1", "1 of 2 released numbers is beyond ±1e+75, where floating point ends: 1e+300 (row 2)."),
        ("1e12", "0 1", "1 of 2 released numbers is less likely than 1e-12 under Laplace, whatever the records inside"),
        ("0.7", "0 1e-162", "bounds must be at least 1e-60 apart"),
        ("0.7", "1e15 1000000000000008", "has only 64 numbers between them"),
    ],
)
def test_absurd_numbers_are_told_in_a_line(here, value, bounds, told):
    (here / "z.csv").write_text(f"z\n0.5\n{value}\n")
    about = ("--mechanism", "laplace", "--epsilon", 5, "--bounds", *bounds.split())
    result = run("fit", "z.csv", *about, "--output", "fit.nc", *QUICK)
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert names(here) == ["raw.csv", "z.csv"]


def test_fit_leaves_old_outputs_when_it_fails(release, here):
    (here / "fit.nc").write_text("old")
    assert run("fit", "release.csv", *FIT, "--draws", 0).exit_code == 2
    assert (here / "fit.nc").read_text() == "old"


# demo.


def test_demo_writes_a_release_a_fit_and_a_picture(here, monkeypatch):
    def quick(release, name, seed):
        sampler = samplers.Neal5() if name == "Neal 5" else samplers.Slice()
        model = privmix.PrivateMixture(release.mechanism, kernels.Normal())
        return model.sample(release, sampler, draws=40, warmup=20, thin=1, chains=2, seed=seed)

    chosen = mechanisms.RandomizedResponse(8, epsilon=10.0, bounds=(-10.0, 10.0))
    monkeypatch.setattr(demo_module, "recommended", lambda records, epsilon: chosen)
    monkeypatch.setattr(demo_module, "sample", quick)
    result = run("demo", "--records", 30, "--seed", 3)
    assert result.exit_code == 0, result.output
    assert names(here / "demo") == ["density.png", "fit.nc", "recommended.png", "release.csv", "release.csv.json"]
    assert len(Release.load("demo/release.csv")) == 30
    assert privmix.load("demo/fit.nc").draws == 40
    for words in (
        "ε = 10",
        "the first run on a machine compiles",
        "worst ESS",
        "L1 distance",
        "the same data at the same ε through RandomizedResponse (8 cells)",
        "0 is perfect, 2 the worst",
    ):
        assert words in result.stdout


def test_demo_truth_is_a_density_and_its_release_repeatable():
    y = np.linspace(-12.0, 12.0, 24001)
    assert np.trapezoid(demo_module.true_density(y), y) == pytest.approx(1.0, abs=1e-6)
    assert demo_module.simulate(20, 1.0, 5) == demo_module.simulate(20, 1.0, 5)


def test_demo_recommends_by_a_plan_and_releases_the_same_data_through_it():
    chosen = demo_module.recommended(200, 10.0)
    assert chosen.guarantee.epsilon == 10.0
    assert not isinstance(chosen, mechanisms.Laplace)
    sharp = mechanisms.Laplace(epsilon=1e9, bounds=(-10.0, 10.0))
    through_noise, as_they_are = demo_module.simulate(20, 1e8, 5), demo_module.simulate(20, 1e8, 5, sharp)
    np.testing.assert_allclose(through_noise.z, as_they_are.z, atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "no/demo"], "the output folder no does not exist"),
        (["--output", "raw.csv"], "the output folder raw.csv is not a folder"),
        (["--epsilon", 0], "epsilon"),
        (["--records", 0], "--records must be at least 1; got 0"),
        (["--seed", -1], "non-negative"),
    ],
)
def test_demo_errors(here, arguments, message):
    check_error(run("demo", *arguments), message)
    assert names(here) == ["raw.csv"]


def test_errors_that_are_bugs_are_not_hidden(here, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(demo_module, "simulate", fail)
    assert isinstance(run("demo").exception, ZeroDivisionError)


@pytest.mark.parametrize(
    ("value", "text"),
    [(np.nan, "–"), (0.04567, "0.0457"), (4.906, "4.91"), (99.97, "100"), (999.7, "1,000"), (12345.6, "12,346")],
)
def test_numbers_in_tables(value, text):
    assert number(value) == text


@pytest.mark.parametrize("held", ["several columns (a, b)", "categories"])
def test_rows_and_categories_are_left_to_python(held):
    from privmix.cli.fit import build_model

    response = mechanisms.RandomizedResponse(categories=("no", "yes"), epsilon=1.0)
    noise = mechanisms.Laplace(epsilon=1.0, bounds=(0.0, 1.0))
    mechanism = response if held == "categories" else mechanisms.Each(a=noise, b=response)
    with pytest.raises(ValueError) as caught:
        build_model("auto", mechanism, None)
    assert str(caught.value).startswith(f"the release has {held}, and the command line fits records of one number.")
