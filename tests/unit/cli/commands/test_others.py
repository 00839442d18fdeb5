"""`import`, `show`, `compare` and `alerts` for projects that use asv or pytest-benchmark."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from observatory.errors import Exit
from observatory.store.records.contrast import Contrasts
from tests.command import observatory
from tests.factories_asv import foreign, put, row
from tests.factories_others import DAY, commit, measured, released

TESTS = {"b/test_io.py::test_read": 1.0, "b/test_io.py::test_write": 2.0}


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    """Two releases without commits; reading takes twice as long in the second."""
    released(tmp_path, "pkg-3.3.3.json", TESTS, 1)
    released(tmp_path, "0001_3.3.7.json", {**TESTS, "b/test_io.py::test_read": 2.0}, 2)
    results = tmp_path / "results"
    files = sorted(tmp_path.glob("*.json"), reverse=True)
    done = observatory("import", *files, "--results", results)
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    return results


def test_two_releases_without_commits_are_shown_side_by_side(releases: Path) -> None:
    done = observatory("show", "3.3.3", "3.3.7", "--results", releases)
    assert done.returncode == Exit.OK
    (line,) = (one for one in done.stdout.splitlines() if "test_read" in one)
    assert line.split() == ["test_read", "1.00", "s", "±0.4", "%", "2.00", "s", "±0.4", "%",
                            "slower:", "×2"]  # fmt: skip
    assert "9 rounds" in done.stdout
    assert "is no verdict" in done.stdout


def test_rounds_of_one_run_are_no_alarm(releases: Path) -> None:
    done = observatory("compare", f"{releases}:3.3.3", f"{releases}:3.3.7")
    assert done.returncode == Exit.UNDECIDED
    assert "Partly judged: 3.3.7 against 3.3.3: 1 benchmark apart within one run" in done.stdout
    assert "another run may differ as much" in " ".join(done.stdout.split())
    assert "worse" not in done.stdout


def test_a_comparison_is_written_as_json_and_as_markdown(releases: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    done = observatory(
        "compare", f"{releases}:3.3.3", f"{releases}:3.3.7", "--json", out, "--markdown", "-"
    )
    (line,) = Contrasts.model_validate_json(out.read_bytes()).lines
    assert (line.base.label, line.head.label, line.base.commit) == ("3.3.3", "3.3.7", "3.3.3")
    assert [(one.benchmark, one.conclusion, one.by) for one in line.series] == [
        ("b.test_io.test_read", "worse", "one run"),
        ("b.test_io.test_write", "unaffected", "one run"),
    ]
    assert "| `test_read` |" in done.stdout


def test_the_levels_of_a_history_are_an_alarm(tmp_path: Path) -> None:
    for number in range(20):
        level = 1.0 if number < 10 else 1.5
        measured(tmp_path, number, {"m.time_a": level * (1 + number % 3 / 500), "m.time_b": 1.0})
    base, head = (f"{tmp_path}:{commit(number)[:n]}" for number, n in ((4, 8), (15, 5)))
    done = observatory("compare", base, head)
    assert done.returncode == Exit.WORSE
    assert "✗ Worse: afafafaf against a4a4a4a4: 1 benchmark worse; 1 unaffected." in done.stdout
    assert "1.00 → 1.50 s" in done.stdout
    assert observatory("compare", head, base).returncode == Exit.OK
    narrowed = observatory("compare", base, head, "--benchmark", "time_b")
    assert (narrowed.returncode, "time_a" in narrowed.stdout) == (Exit.OK, False)


def test_values_at_the_ends_of_a_float_are_drawn(tmp_path: Path) -> None:
    """Their sums are infinite, and of a long series means are drawn."""
    ends = {"large": (1e308, 1e308), "opposite": (-1.7e308, 1.7e308), "small": (0, 5e-324)}
    for number in range(70):
        values = {f"bench.time_{name}": both[number % 2] for name, both in ends.items()}
        measured(tmp_path / "asv", number, values)
    done = observatory("dashboard", "--results", tmp_path / "asv", "--out", tmp_path / "html")
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    pages = [path.read_text("utf-8") for path in (tmp_path / "html").rglob("*.html")]
    assert any("time_opposite" in page for page in pages)
    assert not any(re.search(r"\b(nan|inf)\b", page) for page in pages)


def test_each_environment_has_a_part_of_its_own(tmp_path: Path) -> None:
    for number, seconds in ((4, 1.0), (5, 1.5)):
        for env_name in ("conda-py3.12", "conda-py3.13"):
            rows = {"m.time_a": row(result=[seconds], stats_ci_99_a=[seconds],
                                    stats_ci_99_b=[seconds], stats_repeat=[9])}  # fmt: skip
            date = 1_700_000_000_000 + number * DAY
            content = foreign(rows, commit_hash=commit(number), date=date, env_name=env_name)
            put(tmp_path, content, f"{commit(number)[:8]}-{env_name}.json")
    done = observatory("compare", *(f"{tmp_path}:{commit(number)[:8]}" for number in (4, 5)))
    assert "\nOn ci, conda-py3.12: Python 3.12\n" in done.stdout
    assert "\nOn ci, conda-py3.13: Python 3.12\n" in done.stdout


def test_each_side_is_measured_in_its_own_directory(tmp_path: Path) -> None:
    """Both directories hold the whole history, as branches do; HEAD's is slower."""
    base, head = tmp_path / "base", tmp_path / "head"
    for number in range(20):
        measured(base, number, {"m.time_a": (0.99, 1.0, 1.01)})
        measured(head, number, {"m.time_a": (2.97, 3.0, 3.03)})
    out = tmp_path / "found.json"
    sides = f"{base}:{commit(4)}", f"{head}:{commit(9)}"
    done = observatory("compare", *sides, "--json", out)
    assert done.returncode == Exit.UNDECIDED
    (line,) = Contrasts.model_validate_json(out.read_bytes()).lines
    (one,) = line.series
    assert one.base is not None
    assert one.head is not None
    assert (one.base.value, one.head.value) == (1.0, 3.0)
    done = observatory("compare", f"{base}:{commit(4)}", f"{head}:{commit(4)}")
    assert done.returncode == Exit.USAGE
    assert "a history has one value of each commit" in done.stderr


def test_values_near_the_largest_number_are_not_judged(tmp_path: Path) -> None:
    for number in range(24):
        measured(tmp_path, number, {"m.track_a": 1e300 if number < 12 else 1.7e308})
    done = observatory("alerts", "--results", tmp_path)
    assert done.returncode == Exit.OK
    assert "1 not judged" in " ".join(done.stdout.split())


def test_values_without_a_ratio_are_said_to_be_the_reason(tmp_path: Path) -> None:
    for number in range(12):
        measured(tmp_path, number, {"m.track_a": float(number % 2), "m.time_b": (0.0, 0.0, 0.0)})
    done = observatory("compare", f"{tmp_path}:{commit(3)}", f"{tmp_path}:{commit(8)}")
    said = " ".join(done.stdout.split())
    assert "not judged: a value is 0 or below, or values lie too far apart" in said
    assert "fewer than ten subjects" not in said


def test_rounds_that_are_alike_decide_nothing_and_say_so(tmp_path: Path) -> None:
    for number in range(2):
        measured(tmp_path, number, {"m.time_a": (0.999, 1.0, 1.001)})
    done = observatory("compare", *(f"{tmp_path}:{commit(number)}" for number in range(2)))
    assert done.returncode == Exit.UNDECIDED
    assert "1 the same within one run only." in " ".join(done.stdout.split())


def test_an_environment_without_a_name_leaves_no_trace_in_the_list(tmp_path: Path) -> None:
    for number in range(20):
        level = 1.0 if number < 10 else 1.5
        values = {"m.time_a": level * (1 + number % 3 / 500)}
        measured(tmp_path, number, values, env_name="")
    shown = " ".join(observatory("alerts", "--results", tmp_path).stdout.split())
    assert "1.00 → 1.50 s; ci " in shown


def test_one_value_a_side_is_not_judged(tmp_path: Path) -> None:
    for number, value in enumerate((1.0, 3.0)):
        measured(tmp_path, number, {"m.peakmem_a": value})
    done = observatory("compare", f"{tmp_path}:{commit(0)}", f"{tmp_path}:{commit(1)}")
    assert done.returncode == Exit.UNDECIDED
    assert "fewer than five rounds" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("base", "head", "said"),
    [
        ("a0a0a0a0", "nope", "there is no subject 'nope'"),
        ("a0a0a0a0", "b1", "there is no subject 'b1'"),
        ("a0a0a0a0", "a3a3a3a3", "no machine measured a0a0a0a0 and a3a3a3a3 in one environment"),
    ],
)
def test_what_cannot_be_compared_is_said(tmp_path: Path, base: str, head: str, said: str) -> None:
    measured(tmp_path, 0, {"m.time_a": 1.0})
    measured(tmp_path, 1, {"m.time_a": 1.0})
    measured(tmp_path, 3, {"m.time_a": 1.0}, env_name="another")
    done = observatory("compare", f"{tmp_path}:{base}", f"{tmp_path}:{head}")
    assert done.returncode == Exit.USAGE
    assert said in done.stderr


def test_a_side_without_a_subject_and_options_of_others_are_refused(tmp_path: Path) -> None:
    measured(tmp_path, 0, {"m.time_a": 1.0})
    assert "as in DIR:SUBJECT" in observatory("compare", tmp_path, tmp_path).stderr
    assert "--benchmark and --top" in observatory("compare", "3.3.3", "3.3.7", "--top", "3").stderr


@pytest.mark.parametrize(
    "given", [("--scenario", "cold"), ("--pass", "work"), ("--python", "3.12")]
)
def test_options_of_our_own_cells_are_refused(releases: Path, given: tuple[str, str]) -> None:
    done = observatory("compare", f"{releases}:3.3.3", f"{releases}:3.3.7", *given)
    assert done.returncode == Exit.USAGE
    assert f"drop {given[0]}" in done.stderr


def test_names_of_strangers_are_shown_as_code(tmp_path: Path) -> None:
    hostile = "m.time_[red]x[/red] @someone <img>"
    for number, value in enumerate((1.0, 2.0)):
        measured(tmp_path, number, {hostile: (value * 0.99, value, value * 1.01)})
    sides = [f"{tmp_path}:{commit(number)}" for number in range(2)]
    assert "[red]x[/red]" in observatory("compare", *sides).stdout
    assert "`m.time_[red]x[/red] @someone <img>`" in (
        observatory("compare", *sides, "--markdown", "-").stdout
    )


def test_what_is_wrong_with_one_file_does_not_stop_the_others(tmp_path: Path) -> None:
    where = tmp_path / ".benchmarks" / "Linux-CPython-3.12-64bit"
    where.mkdir(parents=True)
    released(where, "0001_3.3.3.json", TESTS)
    released(where, "0002_unversioned_20261101_120000.json", TESTS)
    (where / "notes.json").write_text("[]")
    done = observatory("import", tmp_path / ".benchmarks", "--results", tmp_path / "results")
    assert done.returncode == Exit.USAGE
    assert "2 benchmarks: into" in done.stdout
    assert "0002_unversioned_20261101_120000.json: it does not say which commit" in done.stderr
    assert "notes.json: it is not a file of pytest-benchmark" in done.stderr
    assert [one.name for one in (tmp_path / "results" / "ci").glob("3*.json")] == [
        "3.3.3-pytest-benchmark-py3.12.json"
    ]


def test_files_of_one_subject_that_replace_each_other_are_named(tmp_path: Path) -> None:
    files = [released(tmp_path, f"{name}.json", {"a.py::t": value})
             for name, value in (("one", 1.0), ("two", 2.0))]  # fmt: skip
    done = observatory("import", *files, "--subject", "3.3.7", "--results", tmp_path / "results")
    assert done.returncode == Exit.OK
    assert "1 benchmark: into" in done.stdout
    assert "1 of them replace what was just imported" in done.stdout


def test_releases_out_of_order_are_told_and_dates_put_them_right(tmp_path: Path) -> None:
    new = released(tmp_path, "3.3.10.json", TESTS, 1)
    old = released(tmp_path, "3.3.9.json", TESTS, 2)
    where = ("--results", tmp_path / "results")
    assert "3.3.10 was measured before 3.3.9" in observatory("import", new, old, *where).stdout
    observatory("import", old, "--date", "2026-10-01", *where)
    rows = observatory("export", *where).stdout.splitlines()[1:]
    assert [row.split(",")[0] for row in rows] == ["3.3.9", "3.3.9", "3.3.10", "3.3.10"]


@pytest.mark.parametrize("day", ["1926-01-01", "9998-01-01"])
def test_a_date_that_no_reader_takes_changes_nothing(tmp_path: Path, day: str) -> None:
    where = ("--results", tmp_path / "results")
    file = released(tmp_path, "3.3.9.json", TESTS, 2)
    observatory("import", file, *where)
    before = {path: path.read_bytes() for path in (tmp_path / "results").rglob("*.json")}
    done = observatory("import", file, "--date", day, *where)
    assert done.returncode == Exit.USAGE
    assert f"--date {day} is not a day from 1970 to 9899" in done.stderr
    assert before == {path: path.read_bytes() for path in (tmp_path / "results").rglob("*.json")}


def test_alerts_beside_the_results_of_one_machine_are_no_broken_result(tmp_path: Path) -> None:
    measured(tmp_path, 0, {"m.time_a": 1.0})
    machine = tmp_path / "ci"
    (machine / "machine.json").write_text('{"machine": "ci", "version": 1}')
    observatory("alerts", "--results", machine)
    assert (machine / "alerts.json").is_file()
    for where in (machine, tmp_path):
        done = observatory("show", "--results", where, "--strict")
        assert (done.returncode, done.stderr) == (Exit.OK, "")


def test_files_that_cannot_be_read_resolve_no_alert(tmp_path: Path) -> None:
    """As after a merge with conflicts: without those of the slower commits, nothing is slower."""
    for number in range(24):
        level = 1.0 if number < 14 else 1.5
        measured(tmp_path, number, {"m.time_a": level * (1 + number % 3 / 500)})

    def states(*more: str) -> list[tuple[str, list[str]]]:
        done = observatory("alerts", "--results", tmp_path, "--json", *more)
        found = json.loads(done.stdout)["alerts"]
        return [(one["state"], one["notes"]) for one in found if one["series"]]

    assert [state for state, _ in states()] == ["open"]
    for number in range(15, 24):
        (tmp_path / "ci" / f"{commit(number)[:8]}-x.json").write_text("<<<<<<< HEAD")
    ((state, notes),) = states()
    assert state == "new"
    assert notes == ["files of its machine cannot be read, so whether it still holds is unknown"]
    for number in range(14, 24):  # one row of another benchmark is wrong, and nothing is slower
        measured(tmp_path, number, {"m.time_a": 1 + number % 3 / 500})
    file = tmp_path / "ci" / f"{commit(3)[:8]}-x.json"
    file.write_text(file.read_text().replace('"results": {', '"results": {"m.time_b": "bad", '))
    assert states() == [("resolved", [])]


def test_alerts_that_cannot_be_remembered_are_printed_and_the_command_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> Path:
        raise PermissionError(13, "Permission denied", "alerts.json")

    for number in range(16):
        measured(tmp_path, number, {"m.time_a": (1.0 if number < 9 else 1.4) + number % 3 / 500})
    options = ("alerts", "--results", tmp_path, "--fail-on", "new")
    monkeypatch.setattr("observatory.store.records.alerts.save", refused)
    done = observatory(*options)
    assert done.returncode == Exit.USAGE
    assert "Judged: 1 series" in done.stdout
    assert "alerts.json: it cannot be written (Permission denied)" in " ".join(done.stderr.split())
    monkeypatch.undo()
    assert observatory(*options).returncode == Exit.ALERTS


def test_imported_releases_have_a_history_with_alerts(tmp_path: Path) -> None:
    """What docs/how-to/adopt.md promises: after enough subjects, a step is an alert."""
    for number in range(16):
        value = (1.0 if number < 9 else 1.4) * (1 + number * 7 % 5 / 500)
        released(tmp_path, f"1.{number}.json", {"a.py::t": value}, number + 1)
    results = tmp_path / "results"
    observatory("import", *sorted(tmp_path.glob("1.*.json")), "--results", results)
    done = observatory("alerts", "--results", results, "--stale-after", "9999w", "--json")
    found = json.loads(done.stdout)["alerts"]
    assert [(one["first_bad"]["label"], one["state"]) for one in found] == [("1.9", "open")]


def test_the_pages_carry_the_projects_name_and_say_what_one_run_proves(
    releases: Path, tmp_path: Path
) -> None:
    html = tmp_path / "html"
    arguments = ("dashboard", "--results", releases, "--out", html)
    observatory(*arguments)
    page = (html / "compare.html").read_text()
    assert "<title>Compare · Benchmarks</title>" in page
    assert "slower: ×2, within one run only" in page
    observatory(*arguments, "--commit-url", "https://github.com/o/pkg/commit/")
    assert "<title>Compare · pkg benchmarks</title>" in (html / "compare.html").read_text()
    observatory(*arguments, "--project", "Our <b>Project</b>")
    page = (html / "compare.html").read_text()
    assert "Our &lt;b&gt;Project&lt;/b&gt; benchmarks</title>" in page
    assert "observatory</a></p>" not in page
