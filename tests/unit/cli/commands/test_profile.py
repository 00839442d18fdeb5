"""`observatory profile`: what is shown, in each form, and what is said where there is nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from observatory.app import profile
from observatory.benchmarks.catalogue import Cell
from observatory.cli.main import app
from observatory.errors import Exit, ObservatoryError
from observatory.store.records.profile import ImportedModule, Phase, Profile
from observatory.store.records.sample import Sample
from tests.factories import WARM, header, journal, sample, traced

COLD = Cell("radon", "cold", "NUMBA", "fork")


def imports(*given: tuple[str, float]) -> Sample:
    modules = [ImportedModule(name=name, depth=0, seconds=own) for name, own in given]
    found = traced(5, COLD)
    assert found.profile is not None
    known = found.profile.model_copy(update={"imports": modules})
    return found.model_copy(update={"profile": known})


def timed(seconds: float) -> Sample:
    phases = [Phase(name="rewriting", entries=1, seconds=seconds)]
    return sample(metrics={"compile_time": seconds}, profile=Profile(phases=phases))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    journal(tmp_path, [traced(100), timed(1.0), imports(("numba", 0.3))], under=header("3.3.6"))
    journal(
        tmp_path,
        [traced(150), timed(1.5), imports(("numba", 0.3), ("pandas", 0.2))],
        under=header("3.3.7"),
    )
    return tmp_path


def output(results: Path, *words: str) -> str:
    done = CliRunner().invoke(app, ["profile", "--results", str(results), *words])
    assert done.exit_code == Exit.OK, done.exception
    return done.stdout


def test_two_subjects_are_shown_by_what_grew_in_the_cell_that_changed_most(results: Path) -> None:
    text = output(results, "3.3.6", "3.3.7")
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "rewriting 1.00 s 1.50 s slower: +500 ms" in rows
    assert "m:f 100 150 +50 100 %" in rows
    assert "pandas - 200 ms 200 ms" in rows
    assert "numba 300 ms 300 ms 0 s" not in rows


def test_what_shrank_is_shown_as_well(results: Path) -> None:
    text = output(results, "3.3.7", "3.3.6")
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "m:f 150 100 \N{MINUS SIGN}50 100 %" in rows


def test_one_subject_is_shown_by_what_it_does(results: Path) -> None:
    text = output(results, "3.3.7", "--scenario", WARM.scenario)
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "rewriting 1.50 s -" in rows
    assert "m:f 150" in rows
    assert "numba 300 ms" in rows


def test_other_tools_read_calls_and_seconds(results: Path) -> None:
    both = ("3.3.6", "3.3.7", "--form", "collapsed")
    assert output(results, *both) == "3.3.6;(build);m:f 100\n3.3.7;(build);m:f 150\n"
    assert "3.3.7;(build);rewriting 1500000\n" in output(results, *both, "--unit", "seconds")
    read = json.loads(output(results, "3.3.6", "3.3.7", "--form", "speedscope"))
    assert [one["endValue"] for one in read["profiles"]] == [100, 150]


def test_two_measurements_of_one_release_are_told_apart(results: Path, tmp_path: Path) -> None:
    after = tmp_path / "after"
    journal(after, [traced(170)], under=header("3.3.6"))
    found = profile(f"{results}:3.3.6", f"{after}:3.3.6")
    assert found.exported("collapsed", "calls") == (
        "BASE 3.3.6;(build);m:f 100\nHEAD 3.3.6;(build);m:f 170\n"
    )


def test_the_page_is_one_file_with_a_graph_for_each_unit(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "flame.html"
    assert output(results, "3.3.6", "3.3.7", "--form", "html", "--out", str(out)) == ""
    text = out.read_text("utf-8")
    assert text.count('<figure class="flame"') == 2
    assert "src=" not in text
    assert "3.3.7 against 3.3.6" in text
    assert "was entered 100 times, now 150" in text


def test_saved_samples_are_named_by_their_directory(results: Path) -> None:
    found = profile(f"{results}:3.3.6", f"{results}:3.3.7")
    assert found.cell == WARM
    assert found.others == (COLD,)


def test_without_a_profile_the_error_says_how_to_record_one(tmp_path: Path) -> None:
    journal(tmp_path, [sample()])
    with pytest.raises(ObservatoryError) as caught:
        profile("3.3.7", results=tmp_path, scenario="warm_disk")
    assert caught.value.exit_code == Exit.USAGE
    assert str(caught.value).endswith(
        "observatory run --subject 3.3.7 --scenario warm_disk --pass tracing --pass timing"
    )


def test_a_unit_that_is_not_recorded_is_an_error(results: Path) -> None:
    words = ["--scenario", "cold", "--form", "collapsed", "--unit", "seconds"]
    done = CliRunner().invoke(app, ["profile", "3.3.7", "--results", str(results), *words])
    assert "there is one in calls" in str(done.exception)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"scenario": "tepid"}, "no scenario 'tepid'"),
        ({"machine": "other"}, "no results of machine 'other'; it has those of bench"),
    ],
)
def test_what_is_not_there_is_named(results: Path, words: dict[str, str], said: str) -> None:
    with pytest.raises(ObservatoryError, match=said):
        profile("3.3.7", results=results, **words)


def test_the_text_begins_with_all_calls_also_if_no_part_changed(tmp_path: Path) -> None:
    for label in ("3.3.6", "3.3.7"):
        journal(tmp_path, [traced(100)], under=header(label))
    assert "Python calls: 10" in output(tmp_path, "3.3.6", "3.3.7").splitlines()[0]


def test_imports_that_take_a_little_longer_are_no_rows(tmp_path: Path) -> None:
    given = {"3.3.6": (("fast", 0.002), ("large", 0.3)), "3.3.7": (("fast", 0.010), ("large", 0.4))}
    for label, modules in given.items():
        journal(tmp_path, [imports(*modules)], under=header(label))
    text = output(tmp_path, "3.3.6", "3.3.7")
    assert "fast" not in text
    assert "large" not in text


def test_a_file_has_no_codes_of_a_terminal(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    output(results, "3.3.6", "3.3.7", "-o", str(tmp_path / "profile.txt"))
    assert "\x1b" not in (tmp_path / "profile.txt").read_text()
