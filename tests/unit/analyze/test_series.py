"""Values gathered into series by machine, environment, era and benchmark."""

from pathlib import Path

from observatory.analyze.history.series import lines_of, series_of
from observatory.store.reading.read import read_results, united
from tests.factories_asv import foreign, put, row


def measured(
    where: Path, number: int, value: float | None, *, cpu: str = "A", **changes: object
) -> None:
    machine = {"machine": "ci", "cpu": cpu, "os": "Linux 6.8.0-57-generic", "arch": "x86_64"}
    content = foreign(
        {"time_it": row(result=[value], params=[])},
        commit_hash=f"{number:040x}",
        date=1_700_000_000_000 + number * 86_400_000,
        params=machine | {"python": "3.12"} | dict(changes),
    )
    put(where, content, f"{number:08x}-{cpu}.json")


def test_values_come_in_the_order_of_the_commits_whatever_the_files_are_called(
    tmp_path: Path,
) -> None:
    for number in (12, 3, 7):
        measured(tmp_path, number, float(number))
    (one,) = series_of(read_results(tmp_path))
    assert list(one.values) == [3.0, 7.0, 12.0]
    assert [one.subject(index).commit for index in range(3)] == [f"{n:040x}" for n in (3, 7, 12)]
    assert one.benchmark == "time_it"


def test_a_failed_value_leaves_a_gap_and_not_a_zero(tmp_path: Path) -> None:
    for number, value in enumerate((1.0, None, 3.0)):
        measured(tmp_path, number, value)
    (one,) = series_of(read_results(tmp_path))
    assert list(one.values) == [1.0, 3.0]
    assert list(one.at) == [0, 2]


def test_processors_that_take_turns_are_two_lines(tmp_path: Path) -> None:
    for number in range(6):
        measured(tmp_path, number, float(number), cpu="AB"[number % 2])
    first, second = series_of(read_results(tmp_path))
    assert (list(first.values), list(second.values)) == ([0, 2, 4], [1, 3, 5])
    assert {one.line.era.cpu for one in (first, second)} == {"A", "B"}


def test_a_patch_of_the_system_begins_no_other_line(tmp_path: Path) -> None:
    measured(tmp_path, 1, 1.0)
    measured(tmp_path, 2, 2.0, os="Linux 6.8.0-60-generic")
    measured(tmp_path, 3, 3.0, os="Linux 6.9.1")
    assert [len(line.subjects) for line in lines_of(read_results(tmp_path))] == [2, 1]


def test_nothing_measured_has_no_series(tmp_path: Path) -> None:
    assert series_of(read_results(tmp_path)) == []


def written(where: Path, number: int, result: list[float], params: list[list[str]]) -> None:
    content = foreign(
        {"time_x": row(result=result, params=params)}, commit_hash=f"{number:040x}",
        date=1_700_000_000_000 + number * 86_400_000, params={"machine": "ci", "python": "3.12"},
    )  # fmt: skip
    put(where, content, f"{number:08x}-A.json")


def test_a_benchmark_whose_parameters_grew_is_one_series(tmp_path: Path) -> None:
    written(tmp_path, 1, [1.0, 2.0], [["1", "2"]])
    written(tmp_path, 2, [1.0, 2.0, 3.0], [["1", "2", "3"]])
    found = {one.benchmark: one.values.tolist() for one in series_of(read_results(tmp_path))}
    assert found == {"time_x(1)": [1, 1], "time_x(2)": [2, 2], "time_x(3)": [3]}


def test_only_the_values_of_a_benchmark_whose_parameters_grew_are_gathered(tmp_path: Path) -> None:
    """Those of all others stay where they are: the values of a machine may not fit into memory."""
    for number, words in enumerate((["1", "2"], ["1", "2", "3"])):
        rows = {
            name: row(result=[float(number)] * len(own), params=[own])
            for name, own in (("time_a", ["1", "2"]), ("time_b", words), ("time_c", ["1", "2"]))
        }
        content = foreign(rows, commit_hash=f"{number:040x}", date=1_700_000_000_000 + number)
        put(tmp_path, content, f"{number}.json")
    read = read_results(tmp_path)
    found = series_of(read)
    assert [one.benchmark for one in found] == [
        "time_a(1)", "time_a(2)", "time_b(1)", "time_b(2)", "time_c(1)", "time_c(2)", "time_b(3)",
    ]  # fmt: skip
    assert {one.benchmark: one.values.tolist() for one in found if len(one) != 2} == {
        "time_b(3)": [1.0]
    }
    there = [one.benchmark for one in found if one.part is read.parts[0]]
    assert there == ["time_a(1)", "time_a(2)", "time_c(1)", "time_c(2)", "time_b(3)"]
    (gathered,) = {
        id(one.part): one.part for one in found if one.part is not read.parts[0]
    }.values()
    assert len(gathered) == 4


def test_the_series_of_several_directories_are_joined(tmp_path: Path) -> None:
    for number, place in enumerate(("a", "b", "b"), 1):
        measured(tmp_path / place, number, float(number))
    measured(tmp_path / "b", 1, 9.0)
    read = united([read_results(tmp_path / "a"), read_results(tmp_path / "b")])
    (one,) = series_of(read)
    assert one.values.tolist() == [1, 2, 3]
    (problem,) = read.problems
    assert "is of the same subject, machine and environment: not used" in problem.reason
