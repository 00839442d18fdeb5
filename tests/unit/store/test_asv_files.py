from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from observatory.benchmarks.catalogue import Cell
from observatory.store.asv.files import project, write_benchmarks
from observatory.store.asv.names import asv_params
from observatory.store.base.problems import RecordError
from observatory.store.journal.reader import JournalContents
from observatory.store.reading.read import read_results
from tests.factories import LATER, WARM, failed, header, journal, sample, subject


def projected(results: Path, contents: JournalContents) -> dict[str, Any]:
    assert project(results, contents) == []
    (path,) = (results / "bench").glob("*-*.json")

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    loaded: dict[str, Any] = json.loads(path.read_text(), parse_constant=refuse)
    return loaded


def column(file: dict[str, Any], benchmark: str, name: str) -> Any:
    row = dict(zip(file["result_columns"], file["results"][benchmark], strict=False))
    return row.get(name)


def test_the_file_names_subject_machine_and_no_version_that_follows_from_them(
    tmp_path: Path,
) -> None:
    file = projected(tmp_path, journal(tmp_path, [sample()]).read())
    assert file["commit_hash"] == subject().commit
    assert file["date"] == 1786665600000
    assert file["version"] == 2
    assert file["requirements"] == {}
    assert file["params"] == {
        "machine": "bench", "os": "Linux", "arch": "x86_64", "cpu": "Some CPU", "num_cpu": "2",
        "ram": "", "python": "3.13",
    }  # fmt: skip
    machine = json.loads((tmp_path / "bench" / "machine.json").read_text())
    assert (machine["machine"], machine["version"]) == ("bench", 1)


def test_an_extra_is_a_parameter_and_part_of_the_name(tmp_path: Path) -> None:
    under = header(extras=("numba==0.66.0",))
    file = projected(tmp_path, journal(tmp_path, [sample()], under=under).read())
    assert file["requirements"] == {"numba": "0.66.0"}
    assert file["params"]["numba"] == "0.66.0"
    assert file["env_name"] == "observatory-py3.13-numba0.66.0"


def test_values_stand_at_their_cell_and_null_at_all_others(tmp_path: Path) -> None:
    other = Cell("radon", "warm_disk", "DEFAULT", "spawn")
    contents = journal(
        tmp_path,
        [sample(measure="counting", metrics={"cache_misses": 3}),
         sample(other, "counting", metrics={"cache_misses": 5})],
    ).read()  # fmt: skip
    file = projected(tmp_path, contents)
    name = "compile.WarmDisk.track_cache_misses"
    assert column(file, name, "params") == asv_params("warm_disk")
    # asv stores a value for each combination, the last parameter changing fastest.
    combinations = list(itertools.product(*asv_params("warm_disk")))
    wanted = {
        ("'radon'", "'NUMBA'", "'fork'"): 3,
        ("'radon'", "'DEFAULT'", "'spawn'"): 5,
    }
    assert column(file, name, "result") == [wanted.get(one) for one in combinations]
    assert column(file, name, "samples")[combinations.index(next(iter(wanted)))] == [3]
    assert column(file, name, "stats_repeat") is None
    assert column(file, name, "version") == "1"


def test_noisy_values_have_samples_and_asvs_statistics(tmp_path: Path) -> None:
    times = [1.0, 2.0, 4.0]
    contents = journal(tmp_path, [sample(metrics={"compile_time": t}) for t in times]).read()
    file = projected(tmp_path, contents)
    name = "compile.WarmDisk.track_compile_time"
    assert column(file, name, "result")[4] == 2.0
    assert column(file, name, "samples")[4] == [1, 2, 4]
    assert column(file, name, "stats_repeat")[4] == 3
    assert column(file, name, "stats_number")[4] == 1
    assert column(file, name, "started_at") == 1795176000000
    assert column(file, name, "duration") == 6.0


def test_a_single_noisy_sample_has_no_statistics_and_the_file_stays_strict_json(
    tmp_path: Path,
) -> None:
    contents = journal(tmp_path, [sample(metrics={"compile_time": 1.5})]).read()
    file = projected(tmp_path, contents)
    assert column(file, "compile.WarmDisk.track_compile_time", "samples")[4] == [1.5]
    assert column(file, "compile.WarmDisk.track_compile_time", "stats_ci_99_a") is None


def test_counts_that_disagree_are_the_worst_with_all_samples_beside(tmp_path: Path) -> None:
    counts = [sample(measure="counting", metrics={"cache_misses": n}) for n in (0, 2)]
    file = projected(tmp_path, journal(tmp_path, counts).read())
    assert column(file, "compile.WarmDisk.track_cache_misses", "result")[4] == 2
    assert column(file, "compile.WarmDisk.track_cache_misses", "samples")[4] == [0, 2]


def test_a_crashed_cell_is_one_crash_and_nulls(tmp_path: Path) -> None:
    file = projected(tmp_path, journal(tmp_path, [failed()]).read())
    assert column(file, "compile.WarmDisk.track_crashed", "result")[4] == 1
    assert column(file, "compile.WarmDisk.track_compile_time", "result") is None
    assert "compile.WarmDisk.track_cache_misses" not in file["results"]


def test_the_file_follows_the_journal_and_the_same_journal_gives_the_same_bytes(
    tmp_path: Path,
) -> None:
    made = journal(tmp_path, [sample(metrics={"compile_time": 1.0})])
    projected(tmp_path, made.read())
    (path,) = (tmp_path / "bench").glob("*-*.json")
    first = path.read_bytes()
    projected(tmp_path, made.read())
    assert path.read_bytes() == first
    made.append(LATER, sample(metrics={"compile_time": 3.0}))
    file = projected(tmp_path, made.read())
    assert column(file, "compile.WarmDisk.track_compile_time", "result")[4] == 3.0


def test_only_the_present_environments_values_are_shown(tmp_path: Path) -> None:
    journal(tmp_path, [sample(metrics={"compile_time": 1.0})])
    later = sample(measure="counting", metrics={"cache_misses": 0})
    contents = journal(tmp_path, [later], LATER, header(numba="0.69.0")).read()
    file = projected(tmp_path, contents)
    assert "compile.WarmDisk.track_compile_time" not in file["results"]
    assert read_results(tmp_path).files[0].header == header(numba="0.69.0")


def test_nothing_temporary_is_left(tmp_path: Path) -> None:
    project(tmp_path, journal(tmp_path, [sample()]).read())
    names = sorted(path.name for path in (tmp_path / "bench").iterdir())
    assert names == [f"{subject().commit[:8]}-observatory-py3.13.json", "machine.json"]


def test_samples_of_unknown_cells_are_named_and_a_missing_header_is_an_error(
    tmp_path: Path,
) -> None:
    odd = sample(Cell("radon", "lukewarm", "C", "fork"))
    (problem,) = project(tmp_path, journal(tmp_path, [odd]).read())
    assert "lukewarm" in str(problem)
    with pytest.raises(RecordError, match="no header"):
        project(tmp_path, JournalContents(tmp_path / "none.jsonl", None))


def test_benchmarks_are_what_asv_discovers(tmp_path: Path) -> None:
    suites = tmp_path / "suites"
    suites.mkdir()
    (suites / "__init__.py").touch()
    (suites / "compile.py").write_text(
        "class Cold:\n"
        "    params = [['radon'], ['C']]\n"
        "    param_names = ['model', 'backend']\n"
        "    version = '1'\n"
        "    def track_compile_time(self, model, backend): ...\n"
        "    track_compile_time.unit = 'seconds'\n"
    )
    write_benchmarks(tmp_path, suites)
    listed = json.loads((tmp_path / "benchmarks.json").read_text())
    assert listed["version"] == 2
    found = listed["compile.Cold.track_compile_time"]
    assert (found["params"], found["type"], found["version"]) == (
        [["'radon'"], ["'C'"]],
        "track",
        "1",
    )
    assert read_results(tmp_path).benchmarks["compile.Cold.track_compile_time"].type == "track"


def test_suites_that_cannot_be_imported_are_an_error_with_what_python_said(
    tmp_path: Path,
) -> None:
    suites = tmp_path / "suites"
    suites.mkdir()
    (suites / "__init__.py").write_text("import no_such_module")
    with pytest.raises(RecordError, match="No module named 'no_such_module'"):
        write_benchmarks(tmp_path, suites)
    assert not (tmp_path / "benchmarks.json").exists()


def test_the_cell_under_test_is_the_fifth_of_its_product() -> None:
    assert asv_params("warm_disk")[1].index(repr(WARM.backend)) == 2
