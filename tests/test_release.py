import dataclasses
import importlib.metadata
import json
import os
import struct
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from privmix.mechanisms import Laplace, LocalMechanism
from privmix.privacy import PureDP
from privmix.release import Release, files, read_column
from privmix.release.metadata import sum_metadata

LAPLACE = Laplace(epsilon=2.0, bounds=(-3.0, 3.0))
AWKWARD = np.array([0.1, -0.0, 1 / 3, 5e-324, -1.7976931348623157e308, 1e22, 123456789.123456789])
SUFFIXES = ["csv", "parquet"]


@dataclass(frozen=True)
class Doubled(LocalMechanism):
    """Releases each record twice, each time with Laplace noise of its own."""

    scale: float = 1.0
    copies: int = 2

    @property
    def row_length(self):
        return self.copies

    def perturb(self, rng, y):
        return y[:, None] + rng.laplace(0.0, self.scale, size=(len(y), self.copies))


@dataclass(frozen=True)
class WithFunction(LocalMechanism):
    """Has a field that no file can hold."""

    function: object = print


KNOWN = {"Doubled": Doubled}


def made(n=20, mechanism=LAPLACE, notes="first wave, Überlingen"):
    return Release.from_data(np.linspace(-2.0, 2.0, n), mechanism, seed=1, notes=notes)


def saved(tmp_path, suffix="csv", release=None):
    path = tmp_path / f"out.{suffix}"
    (release or made()).save(path)
    return path


def edit_metadata(path, **changes):
    sidecar = path.with_name(path.name + ".json")
    metadata = json.loads(sidecar.read_text(encoding="utf-8"))
    kept, metadata = metadata["checksum"], {k: v for k, v in (metadata | changes).items() if v != "drop"}
    if metadata.get("checksum") == kept:  # made anew, so that what else is wrong is seen
        metadata["checksum"]["metadata"] = sum_metadata(metadata)
    sidecar.write_text(json.dumps(metadata), encoding="utf-8")


def same_bits(one, two):
    return one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()


# The object.


def test_from_data_is_the_mechanism_applied():
    y = np.linspace(-2.0, 2.0, 20)
    release = Release.from_data(y, LAPLACE, seed=1, notes="n")
    assert same_bits(release.z, LAPLACE.privatize(y, seed=1))
    assert (release.guarantee, release.notes, len(release)) == (PureDP(2.0), "n", 20)
    assert Release([1.0], Laplace(scale=1.0)).guarantee is None


def test_object_holds_neither_the_data_nor_the_seed():
    assert [f.name for f in dataclasses.fields(Release)] == ["z", "mechanism", "notes"]
    assert set(vars(made())) == {"z", "mechanism", "notes"}


def test_z_is_a_read_only_copy():
    given = np.array([1.0, 2.0])
    release = Release(given, LAPLACE)
    given[0] = 9.0
    assert release.z.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        release.z[0] = 0.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        release.notes = "other"


def test_equality_and_hash_are_by_content():
    assert made() == made()
    assert hash(made()) == hash(made())
    assert hash(Release([0.0], LAPLACE)) == hash(Release([-0.0], LAPLACE))
    assert Release([0.0], LAPLACE) == Release([-0.0], LAPLACE)
    others = [made(n=19), made(notes=""), made(mechanism=Laplace(epsilon=1.0, bounds=(-3.0, 3.0))), "text"]
    assert all(made() != other for other in others)


def test_constructor_checks_its_parts():
    with pytest.raises(TypeError, match=r"given 'Laplace' as its mechanism, but needs .* Give an instance"):
        Release([1.0], "Laplace")
    with pytest.raises(TypeError, match=r"notes=3, but needs text"):
        Release([1.0], LAPLACE, notes=3)
    with pytest.raises(ValueError, match=r"rows of 2 numbers; the release z has shape \(3,\)"):
        Release([1.0, 2.0, 3.0], Doubled())
    with pytest.raises(ValueError, match="2 values that are NaN or infinite"):
        Release([1.0, np.nan, np.inf], LAPLACE)


# Round trips.


@pytest.mark.parametrize("suffix", [*SUFFIXES, "CSV"])
@pytest.mark.parametrize(
    "mechanism",
    [
        LAPLACE,
        Laplace(rho=0.1, bounds=(0.1, 0.3)),
        Laplace(scale=1 / 3),
        Laplace(scale=np.arange(1, 8) / 7),
        Laplace(epsilon=np.arange(1, 8) / 7, bounds=(0.0, 1.0)),
    ],
    ids=["epsilon", "rho", "scale", "scales", "epsilons"],
)
def test_round_trip_is_bit_for_bit(tmp_path, suffix, mechanism):
    release = Release(AWKWARD, mechanism, notes='comma, "quote"\nsecond line')
    found = Release.load(saved(tmp_path, suffix, release))
    assert found == release
    assert same_bits(found.z, release.z)
    assert same_bits(np.asarray(found.mechanism.scale), np.asarray(mechanism.scale))
    assert found.guarantee == release.guarantee


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("copies", [1, 2, 11])
def test_rows_round_trip_bit_for_bit(tmp_path, suffix, copies):
    release = made(mechanism=Doubled(0.5, copies))
    found = Release.load(saved(tmp_path, suffix, release), known=KNOWN)
    assert found == release
    assert same_bits(found.z, release.z)
    assert found.z.shape == (20, copies)


def test_files_are_what_the_documentation_says(tmp_path):
    path = saved(tmp_path, release=Release([0.1, -2.0], LAPLACE, notes="n"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.csv", "out.csv.json"]
    assert path.read_bytes() == b"z\n0.1\n-2.0\n"
    metadata = json.loads((tmp_path / "out.csv.json").read_text(encoding="utf-8"))
    assert metadata["format_version"] == 2
    assert metadata["guarantee"] == {"kind": "PureDP", "epsilon": 2.0, "neighbours": "replace"}
    assert (metadata["records"], metadata["notes"]) == (2, "n")
    assert metadata["mechanism"]["class"] == "Laplace"
    assert "idealised floating point noise" in metadata["noise"]
    saved(tmp_path, release=made(mechanism=Doubled()))
    assert path.read_text().splitlines()[0] == "z_0,z_1"


def test_version_is_unknown_where_the_package_is_not_installed(tmp_path, monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    saved(tmp_path)
    assert json.loads((tmp_path / "out.csv.json").read_text(encoding="utf-8"))["privmix_version"] == "unknown"


def test_parquet_is_one_file_with_the_metadata_in_its_schema(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = saved(tmp_path, "parquet")
    assert [p.name for p in tmp_path.iterdir()] == ["out.parquet"]
    schema = parquet.read_schema(path)
    assert schema.names == ["z"]
    assert json.loads(schema.metadata[b"privmix"])["records"] == 20


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_raw_data_and_seed_are_nowhere_in_the_files(tmp_path, suffix):
    y = np.random.default_rng(3).uniform(-2.0, 2.0, 200)
    seed = 918273645
    Release.from_data(y, LAPLACE, seed=seed).save(tmp_path / f"out.{suffix}")
    content = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    for value in y.tolist():
        assert f"{value:.8g}".encode() not in content
        assert struct.pack("<d", value) not in content
    assert str(seed).encode() not in content
    assert struct.pack("<q", seed) not in content


def test_saving_over_a_release_replaces_it(tmp_path):
    saved(tmp_path, release=made(n=5, notes="old"))
    assert Release.load(saved(tmp_path, release=made(n=7))) == made(n=7)
    assert len(list(tmp_path.iterdir())) == 2


def test_new_files_have_the_usual_permissions(tmp_path):
    plain = tmp_path / "plain"
    plain.touch()
    for path in (saved(tmp_path), tmp_path / "out.csv.json", saved(tmp_path, "parquet")):
        assert path.stat().st_mode == plain.stat().st_mode


def test_calibration_that_differs_in_the_last_bits_is_accepted(tmp_path):
    path = saved(tmp_path)
    edit_metadata(path, guarantee={**PureDP(np.nextafter(2.0, 3.0)).to_dict()})
    assert Release.load(path) == made()


# Writing that fails.


def content_of(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def fail_at(monkeypatch, owner, name, fails):
    original = getattr(owner, name)

    def wrapped(*arguments):
        if fails(*arguments):
            raise OSError("disk full")
        return original(*arguments)

    monkeypatch.setattr(owner, name, wrapped)


FAILURES = [
    (os, "replace", lambda source, target: str(target).endswith("out.csv"), "csv"),
    (os, "replace", lambda source, target: str(target).endswith("out.csv.json") and ".part" in str(source), "csv"),
    (os, "replace", lambda source, target: True, "parquet"),
    (files, "write_csv", lambda *arguments: True, "csv"),
    (files, "write_text", lambda path, text: path.write_text(text[:9]) > 0, "csv"),
    (files, "write_parquet", lambda path, *rest: path.write_text("half") > 0, "parquet"),
]


@pytest.mark.parametrize("before", ["nothing", "a release"])
@pytest.mark.parametrize(("owner", "name", "fails", "suffix"), FAILURES)
def test_failure_leaves_what_was_there(tmp_path, monkeypatch, owner, name, fails, suffix, before):
    if before == "a release":
        saved(tmp_path, suffix, made(n=5, notes="old"))
    former = content_of(tmp_path)
    fail_at(monkeypatch, owner, name, fails)
    with pytest.raises(OSError, match="disk full"):
        saved(tmp_path, suffix)
    assert content_of(tmp_path) == former


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_save_errors(tmp_path, suffix):
    with pytest.raises(ValueError, match=r"out.xlsx ends in '.xlsx'.* Use .csv or .parquet"):
        made().save(tmp_path / "out.xlsx")
    with pytest.raises(FileNotFoundError, match=r"the folder .*absent does not exist. Create it"):
        made().save(tmp_path / "absent" / f"out.{suffix}")
    with pytest.raises(TypeError, match=r"WithFunction has a field that cannot be saved: .*not JSON serializable"):
        Release([1.0], WithFunction()).save(tmp_path / f"out.{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    path = saved(tmp_path, "parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for attempt in (made().save, Release.load, read_column):
        with pytest.raises(ImportError, match=r"needs pyarrow. Run `pip install privmix\[parquet\]`, or use .csv"):
            attempt(path)
    Release.load(saved(tmp_path, "csv"))


# Reading that fails.


def test_load_names_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none.csv does not exist.*check its spelling"):
        Release.load(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileNotFoundError, match=r"folder.csv is not a file"):
        Release.load(tmp_path / "folder.csv")
    with pytest.raises(ValueError, match=r"ends in '.txt'.* Use .csv or .parquet"):
        Release.load(tmp_path / "none.txt")
    path = saved(tmp_path)
    (tmp_path / "out.csv.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"no out.csv.json beside it.*Release\(z, mechanism\)"):
        Release.load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{half", r"out.csv.json are not JSON \(.*Fetch the file again"),
        ("", r"out.csv.json holds no metadata"),
        ("[1, 2]", r"no format_version, so it is not the metadata of a release"),
        ('{"notes": ""}', r"no format_version"),
        ("[" * 100_000, r"are not JSON"),
        ('{"format_version": ' + "9" * 5000 + "}", r"are not JSON"),
    ],
)
def test_load_refuses_a_sidecar_that_is_not_one(tmp_path, text, message):
    path = saved(tmp_path)
    (tmp_path / "out.csv.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        Release.load(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"format_version": 3, "privmix_version": "9.1"},
            r"format version 3, written by privmix 9.1; .* up to version 2. Upgrade",
        ),
        ({"records": 21}, r"has 20 records, but its metadata say 21"),
        ({"records": "20"}, r"give '20' as the number of records, which is no whole number"),
        ({"format_version": True}, r"no format_version"),
        ({"format_version": 0}, r"no format_version"),
        ({"notes": ["a"]}, r"notes that are no text: \['a'\]"),
        ({"checksum": "drop"}, r"checksum is missing or differs"),
        ({"checksum": 7}, r"checksum is missing or differs"),
        ({"checksum": {"records": "0", "metadata": "0"}}, r"checksum is missing or differs"),
        ({"notes": "drop", "records": "drop"}, r"lack records, notes"),
        (
            {"guarantee": {"kind": "PureDP", "epsilon": 1.0, "neighbours": "replace"}},
            r"states the guarantee .*'epsilon': 1.0.*but its mechanism gives .*'epsilon': 2.0.*do not rely on it",
        ),
        ({"guarantee": {"kind": "ZCDP", "rho": 2.0, "neighbours": "replace"}}, r"states the guarantee .*ZCDP"),
        ({"guarantee": None}, r"states the guarantee None, but its mechanism gives"),
        ({"mechanism": "Laplace"}, r"mechanism that .*out.csv describes cannot be built"),
        (
            {"mechanism": {"module": "privmix.mechanisms.absent", "class": "Absent", "fields": {}}},
            r"cannot be built \(ModuleNotFoundError.*another version of privmix",
        ),
        (
            {"mechanism": {"module": "privmix.privacy.guarantees", "class": "PureDP", "fields": {"epsilon": 1.0}}},
            r"names PureDP as its mechanism, which is not a mechanism",
        ),
    ],
)
def test_load_refuses_metadata_that_do_not_fit(tmp_path, changes, message):
    path = saved(tmp_path)
    edit_metadata(path, **changes)
    with pytest.raises(ValueError, match=message):
        Release.load(path)


def test_load_sees_a_number_that_was_cut_or_changed(tmp_path):
    path = saved(tmp_path, release=Release([1.5, 88.64], Laplace(scale=1.0)))
    text = path.read_text()
    for damaged in (text.replace("88.64", "88.65"), text[: text.index("8.64")], text.replace("1.5", "1.50001")):
        path.write_text(damaged)
        with pytest.raises(
            ValueError, match=r"the records in .*out\.csv are not those that were saved: their checksum"
        ):
            Release.load(path)


def test_load_does_not_mind_another_layout(tmp_path):
    release = Release([1.5, 88.64, -0.0, 3.0], Laplace(epsilon=2, bounds=(-3, 3)), "ä")
    path = saved(tmp_path, release=release)
    path.write_bytes(b"\xef\xbb\xbfz\r\n1.50\r\n8.864e1\r\n0\r\n 3\r\n")
    beside = tmp_path / "out.csv.json"
    metadata = json.loads(beside.read_text(encoding="utf-8"))
    metadata["mechanism"]["fields"]["epsilon"] = 2.0
    beside.write_text(json.dumps(dict(reversed(metadata.items())), ensure_ascii=True))
    assert Release.load(path) == release


def test_a_release_of_the_first_format_has_no_checksum(tmp_path):
    path = saved(tmp_path)
    edit_metadata(path, format_version=1, checksum="drop")
    assert Release.load(path) == made()


def test_load_refuses_notes_that_were_changed(tmp_path):
    path = saved(tmp_path)
    beside = tmp_path / "out.csv.json"
    beside.write_text(beside.read_text().replace('"notes": "', '"notes": "not '))
    with pytest.raises(ValueError, match=r"metadata in .* are not those that were saved.*save the release anew\.$"):
        Release.load(path)


def test_load_catches_a_changed_scale(tmp_path):
    path = saved(tmp_path, release=made(mechanism=Laplace(scale=3.0, bounds=(-3.0, 3.0))))
    metadata = json.loads((tmp_path / "out.csv.json").read_text(encoding="utf-8"))
    metadata["mechanism"]["fields"]["scale"] = 6.0
    edit_metadata(path, **metadata)
    with pytest.raises(ValueError, match=r"'epsilon': 2.0.*mechanism gives .*'epsilon': 1.0"):
        Release.load(path)


def test_load_asks_for_a_class_it_does_not_know(tmp_path):
    path = saved(tmp_path, release=made(mechanism=Doubled()))
    metadata = json.loads((tmp_path / "out.csv.json").read_text(encoding="utf-8"))
    metadata["mechanism"]["module"] = "module_never_imported"
    edit_metadata(path, **metadata)
    with pytest.raises(LookupError, match=r"class Doubled of module module_never_imported.*known="):
        Release.load(path)
    assert Release.load(path, known=KNOWN) == made(mechanism=Doubled())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("z_1", "w", r"no column 'z_1'; it has 'z_0', 'w'"),
        ("z_1", "z_0", r"has 2 columns called 'z_0'"),
        ("2.5", "two", r"row 2 of column 'z_1' in .*out.csv is 'two', not a finite number; rows count from 1"),
        ("2.5", "", r"row 2 of column 'z_1' in .* is empty"),
        ("2.5", "nan", r"row 2 of column 'z_1' in .* is 'nan', not a finite number"),
        ("2.5", "2,5", r"row 2 of .*out.csv has 3 cells, but the header has 2.*decimal point"),
    ],
)
def test_load_says_which_cell_is_wrong(tmp_path, old, new, message):
    path = saved(tmp_path, release=Release([[1.0, 1.5], [2.0, 2.5]], Doubled()))
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ValueError, match=message):
        Release.load(path, known=KNOWN)


def test_a_cut_file_with_scales_of_its_own_is_named_as_cut(tmp_path):
    path = saved(tmp_path, release=Release(AWKWARD, Laplace(scale=np.arange(1, 8) / 7)))
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(ValueError, match=r"has 6 records, but its metadata say 7. The file was cut"):
        Release.load(path)


def test_load_refuses_parquet_that_is_no_release(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "plain.parquet"
    parquet.write_table(pyarrow.table({"z": [1.0]}), path)
    with pytest.raises(ValueError, match=r"plain.parquet holds no metadata.*read_column"):
        Release.load(path)
    parquet.write_table(pyarrow.table({"z": [1.0]}, metadata={"privmix": "{half"}), path)
    with pytest.raises(ValueError, match=r"plain.parquet are not JSON"):
        Release.load(path)
    path.write_bytes(b"not parquet at all")
    with pytest.raises(ValueError, match=r"plain.parquet cannot be read as Parquet"):
        Release.load(path)


# Plain columns.


def csv_file(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "plain.csv"
    path.write_text(text, encoding=encoding)
    return path


@pytest.mark.parametrize(
    ("text", "column", "wanted"),
    [
        ("y\n1\n2.5\n", None, [1.0, 2.5]),
        ("y\r\n 1e3 \r\n-2\r\n\r\n", None, [1000.0, -2.0]),
        ('name,y\n"Smith, J\nsecond line",1\nb,2\n', None, [1.0, 2.0]),
        ("x,y\n1,2\n3,4\n", "y", [2.0, 4.0]),
        ("2020,2021\n1,2\n", "2021", [2.0]),
        ("y", "y", None),
    ],
)
def test_read_column_of_csv(tmp_path, text, column, wanted):
    path = csv_file(tmp_path, text)
    if wanted is None:
        with pytest.raises(ValueError, match=r"has a header \('y'\) but no records"):
            read_column(path, column)
    else:
        assert same_bits(read_column(path, column), np.array(wanted))


def test_read_column_reads_what_spreadsheets_write(tmp_path):
    assert read_column(csv_file(tmp_path, "y\n1\n", encoding="utf-8-sig"), "y").tolist() == [1.0]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", None, r"plain.csv is empty; a header and at least one record"),
        ("\n\n", None, r"plain.csv is empty"),
        ("x,y\n1,2\n", "w", r"no column 'w'; it has 'x', 'y'"),
        ("x,y\n1,2\n", None, r"several columns of numbers: 'x', 'y'. Say which with column="),
        ("id,y\n1,2\n2,NA\n", None, r"several columns of numbers: 'id', 'y'"),
        ("a,b\nu,v\n", None, r"no column of numbers; it has 'a', 'b'"),
        ("a\nu\n", None, r"row 1 of column 'a' in .* is 'u', not a finite number"),
        ("y\n1\nNA\n3\n-\n", None, r"row 2 of column 'y' in .*plain.csv is 'NA'.*\(2 such cells in all\)"),
        ("y\n1\n\n3\n", None, r"row 2 of column 'y' in .* is empty"),
        ("y\n1_000\n2\n", None, r"row 1 of column 'y' in .* is '1_000'"),
        ("y\n1\ninf\n", None, r"row 2 of column 'y' in .* is 'inf', not a finite number"),
        ("0.5\n1.5\n", None, r"first row of .* holds numbers \('0.5'\).*Add a header"),
        ("x,y\n1,2\n3\n", "y", r"row 2 of .* has 1 cells, but the header has 2"),
    ],
)
def test_read_column_errors(tmp_path, text, column, message):
    with pytest.raises(ValueError, match=message):
        read_column(csv_file(tmp_path, text), column)


def test_read_column_refuses_other_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none.csv does not exist"):
        read_column(tmp_path / "none.csv")
    with pytest.raises(ValueError, match=r"ends in '.xlsx'"):
        read_column(tmp_path / "none.xlsx")
    with pytest.raises(ValueError, match=r"is not UTF-8 text .*Save it as UTF-8"):
        read_column(csv_file(tmp_path, "größe\n1\n", encoding="latin-1"))
    with pytest.raises(ValueError, match=r"cannot be read as CSV \(.*limit"):
        read_column(csv_file(tmp_path, "y\n" + "1" * 200_000 + "\n"))


def test_read_column_of_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = tmp_path / "year=2024"
    folder.mkdir()
    path = folder / "plain.parquet"
    parquet.write_table(pyarrow.table({"id": ["a", "b"], "y": [0.1, 2.0], "flag": [True, False]}), path)
    assert same_bits(read_column(path), np.array([0.1, 2.0]))
    with pytest.raises(ValueError, match=r"no column 'w'; it has 'id', 'y', 'flag'"):
        read_column(path, "w")
    with pytest.raises(ValueError, match=r"row 1 of column 'flag' in .* is True, not a finite number"):
        read_column(path, "flag")
    parquet.write_table(pyarrow.table({"y": [1, None, 3]}), path)
    with pytest.raises(ValueError, match=r"row 2 of column 'y' in .* is empty"):
        read_column(path)
    parquet.write_table(pyarrow.table({"y": pyarrow.array([], pyarrow.float64())}), path)
    with pytest.raises(ValueError, match=r"has a header \('y'\) but no records"):
        read_column(path)


def test_read_column_reads_a_release_without_its_sidecar(tmp_path):
    path = saved(tmp_path)
    (tmp_path / "out.csv.json").unlink()
    assert same_bits(read_column(path), made().z)
