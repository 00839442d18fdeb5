"""`observatory alerts`, `ack` and `evaluate-detector` as a user meets them."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from observatory.cli.main import main
from observatory.dashboard.publish import publish, refuse_foreign
from observatory.errors import Exit
from observatory.store.asv.files import project
from observatory.store.journal.writer import Journal
from observatory.store.records import alerts as record
from observatory.text.alerts import drawn
from tests.command import observatory
from tests.factories import header, ledger, sample
from tests.factories_alerts import detected, line, moment, series, stepped, watched
from tests.factories_asv import foreign, put, row

TODAY = datetime.now(UTC)


@pytest.fixture
def refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Runs a command in this process, which has to refuse it; returns what it says."""

    def run(*arguments: str | Path) -> str:
        monkeypatch.setattr(sys, "argv", ["observatory", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code == Exit.USAGE
        said = capsys.readouterr().err
        assert "Traceback" not in said
        return said

    return run


def count(results: Path, label: str, misses: int, age: int) -> None:
    """Count a subject of some days ago, today."""
    date = TODAY - timedelta(days=age)
    journal = Journal.of(results, header(label, date=date))
    names = [f"f{n}" for n in range(misses)]
    taken = sample(
        measure="counting", metrics={"cache_misses": misses}, started_at=TODAY,
        ledger=ledger(*names, outcome="miss"),
    )  # fmt: skip
    journal.append(TODAY.strftime("%Y%m%dT%H%M%SZ"), taken)
    project(results, journal.read())


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Three releases; the newest misses."""
    for age, (label, misses) in enumerate((("3.3.7", 2), ("3.3.4", 0), ("3.3.0", 0))):
        count(tmp_path, label, misses, age)
    return tmp_path


def alerts(results: Path) -> list[dict[str, object]]:
    return json.loads((results / "alerts.json").read_text())["alerts"]


def test_the_story_of_an_alert_from_the_command_line(results: Path) -> None:
    found = observatory("alerts", "--results", results, "--fail-on", "new")
    assert found.returncode == Exit.ALERTS
    assert "1 alert open, all new" in found.stdout
    assert "since 3.3.7 (last good 3.3.4)" in found.stdout
    (alert,) = alerts(results)
    acked = observatory(
        "ack", str(alert["id"])[:6], "--why", "known; #123", "--until", "2w", "--who", "Ada",
        "--results", results,
    )  # fmt: skip
    assert acked.returncode == 0, acked.stderr
    assert 'why = "known; #123"' in (results / "triage.toml").read_text()
    after = observatory("alerts", "--results", results, "--fail-on", "new", "--fail-on", "open")
    assert after.returncode == Exit.OK
    assert "1 acknowledged" in after.stdout
    assert "acknowledged by Ada until" in after.stdout
    count(results, "3.3.8", 0, -1)
    over = observatory("alerts", "--results", results, "--all")
    assert "Nothing is wrong" in over.stdout
    assert "it has been over since 3.3.8" in over.stdout


def test_a_gate_on_a_directory_without_results_does_not_pass(
    tmp_path: Path, refused: Callable[..., str]
) -> None:
    said = refused("alerts", "--results", tmp_path, "--fail-on", "new")
    assert "has no results, so --fail-on has nothing to check" in said
    assert observatory("alerts", "--results", tmp_path).returncode == Exit.OK


def test_long_labels_leave_room_for_the_columns_beside_them(results: Path) -> None:
    count(results, "3.3.8 nutpie==0.16.11 pymc==6.4.0", 9, -1)
    observatory("alerts", "--results", results)
    found = record.load(results)
    assert found is not None
    written = io.StringIO()
    Console(width=80, file=written).print(drawn(found, TODAY))
    (head,) = [line for line in written.getvalue().splitlines() if "since" in line and "id" in line]
    assert head.split() == ["state", "id", "date", "since", "change", "what"]
    for one in found.alerts:
        assert f" {one.state} " in written.getvalue()
        assert f" {one.id} " in written.getvalue()


def test_json_is_what_is_written(results: Path, tmp_path: Path) -> None:
    feed = tmp_path / "alerts.atom"
    said = observatory("alerts", "--results", results, "--json", "--feed", feed)
    assert json.loads(said.stdout) == json.loads((results / "alerts.json").read_text())
    assert feed.read_bytes().startswith(b"<?xml")


def test_a_feed_among_pages_is_one_of_them(results: Path, tmp_path: Path) -> None:
    """A build of the pages refuses a directory with a file that is not."""
    pages = tmp_path / "html"
    publish({"index.html": b"<html>"}.items(), pages)
    assert observatory("alerts", "--results", results, "--feed", pages / "own.atom").stderr == ""
    assert (pages / "own.atom").read_bytes().startswith(b"<?xml")
    refuse_foreign(pages)


def test_the_list_says_when_what_where_and_how_much(results: Path) -> None:
    said = observatory("alerts", "--results", results).stdout
    (row,) = [line for line in said.splitlines() if line.startswith(" new ")]
    assert "0 → 2" in row
    assert f"{TODAY:%Y-%m}" in row
    assert "; bench, observatory-py3.13" in " ".join(said.split())


@pytest.mark.parametrize(
    ("narrowed", "listed"),
    [
        (("--top", "1"), 1),
        (("--benchmark", "warm_disk NUMBA"), 1),
        (("--benchmark", "cold*"), 0),
        (("--since", "2020-01-01"), 1),
        (("--since", "2199-01-01"), 0),
    ],
)
def test_the_list_can_be_narrowed_and_the_record_cannot(
    results: Path, narrowed: tuple[str, str], listed: int
) -> None:
    said = observatory("alerts", "--results", results, *narrowed)
    assert "1 alert open, all new" in said.stdout
    assert said.stdout.count("(last good 3.3.4)") == listed
    assert len(alerts(results)) == 1


def test_a_second_look_changes_nothing(results: Path) -> None:
    observatory("alerts", "--results", results)
    first = (results / "alerts.json").read_bytes()
    observatory("alerts", "--results", results)
    assert (results / "alerts.json").read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("alerts", "--fail-on", "resolved"), "there is no state 'resolved'"),
        (("alerts", "--stale-after", "soon"), "'soon' is not a length of time"),
        (("ack", "ffff", "--why", "x", "--until", "2w"), "no alert with an id"),
        (("ack", "", "--why", "x", "--until", "2w"), "no alert with an id"),
        (("evaluate-detector", ".", "--half", "third"), "there is no half 'third'"),
        (("evaluate-detector", ".", "--detector", "x"), "there is no detector 'x'"),
        (("evaluate-detector", ".", "--external", "x"), "write NAME=COMMAND"),
        (("evaluate-detector", ".", "--replay", "--json", "x"), "drop --json"),
        (("evaluate-detector", ".", "--replay", "--half", "first"), "drop --half"),
    ],
)
def test_a_mistake_is_answered_in_a_sentence(
    results: Path, arguments: tuple[str, ...], said: str, refused: Callable[..., str]
) -> None:
    where = () if arguments[0] == "evaluate-detector" else ("--results", results)
    assert said in refused(*(results if word == "." else word for word in arguments), *where)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--why", " ", "--until", "2w"), "--why is empty"),
        (("--why", "x", "--until", "2020-01-01"), "is in the past"),
        (("--why", "x", "--until", "someday"), "is not a date"),
    ],
)
def test_an_acknowledgement_needs_a_reason_and_an_end(
    results: Path, options: tuple[str, ...], said: str, refused: Callable[..., str]
) -> None:
    known = detected(watched(80, series(line(80), stepped(80, 40))), moment(80))
    record.save(results, known)
    assert said in refused("ack", known.alerts[0].id, *options, "--results", results)
    assert not (results / "triage.toml").exists()


def test_a_broken_triage_file_is_named_and_silences_nothing(results: Path) -> None:
    (results / "triage.toml").write_text("[[acknowledged]\n")
    found = observatory("alerts", "--results", results)
    assert "1 alert open" in found.stdout
    assert "is not valid TOML" in " ".join(found.stderr.split())
    strict = observatory("alerts", "--results", results, "--strict")
    assert strict.returncode == Exit.UNREADABLE


def test_a_detector_is_evaluated_on_anyones_results(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for number, value in enumerate(np.exp(0.02 * rng.standard_normal(210))):
        content = foreign(
            {"time_it": row(result=[value], params=[])},
            commit_hash=f"{number:040x}", date=1_700_000_000_000 + number * 86_400_000,
        )  # fmt: skip
        put(tmp_path, content, f"{number:08x}-x.json")
    figures, picture = tmp_path / "rates.json", tmp_path / "rates.png"
    said = observatory(
        "evaluate-detector", tmp_path, "--detector", "observatory", "--online",
        "--json", figures, "--picture", picture,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    assert "1 series of" in said.stdout
    rates = json.loads(figures.read_text())
    assert rates["series"] == 1
    assert rates["permuted"][0]["detector"] == "observatory"
    assert rates["online"][0]["found"] == 1.0
    assert picture.read_bytes().startswith(b"\x89PNG")
