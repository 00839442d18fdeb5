"""`publish --to`: what the object store adds to what `publish` does with a branch."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from observatory.cli.main import app
from observatory.errors import Exit, ObservatoryError, SelectionError
from observatory.store.asv.files import project
from observatory.store.journal.reader import read_journal
from observatory.store.records import alerts, layout
from observatory.store.records.sample import Sample
from tests.factories import LATER, RUN, failed, header, journal, ledger, sample

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return f"memory://{tmp_path}/store"


def measured(where: Path, *samples: Sample, run: str = RUN, label: str = "3.3.7") -> Path:
    made = journal(where, samples or [sample()], run, header(label))
    project(where, made.read())
    return where


def publish(address: str, *arguments: object) -> Result:
    given = [str(one) for one in arguments]
    return CliRunner().invoke(app, ["publish", *given, "--to", address])


def copied(address: str, where: Path) -> Path:
    assert publish(address, "--checkout", where).exit_code == Exit.OK
    return where


def test_results_are_in_the_store_and_a_second_time_nothing_is_new(
    address: str, tmp_path: Path
) -> None:
    results = measured(tmp_path / "results", sample(measure="counting", ledger=ledger("f")))
    first = publish(address, results)
    assert first.exit_code == Exit.OK
    assert "new: 1 sample of 1 subject, 1 ledger" in first.output
    assert f"version 1 of {address}." in first.output
    assert f"{address} is up to date." in publish(address, results).output
    there = copied(address, tmp_path / "there")
    (mine,), (theirs,) = layout.journals(results), layout.journals(there)
    assert theirs.read_bytes() == mine.read_bytes()
    assert layout.asv_path(there, "bench", header().subject).is_file()
    assert (there / "README.md").is_file()


def test_machines_that_publish_apart_are_merged(address: str, tmp_path: Path) -> None:
    publish(address, measured(tmp_path / "a"))
    later = measured(tmp_path / "b", sample(metrics={"compile_time": 2}), run=LATER)
    publish(address, later)
    publish(address, measured(tmp_path / "c", label="3.3.8"))
    there = copied(address, tmp_path / "there")
    numbers = [len(read_journal(path).entries) for path in layout.journals(there)]
    assert sorted(numbers) == [1, 2]


def test_missing_parts_of_a_plan_are_named(address: str, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    done = publish(address, measured(tmp_path / "night-1-of-2"), "--summary", summary)
    assert "missing: night-2-of-2, a part of the plan" in done.output
    assert summary.read_text().startswith("- missing: `night-2-of-2`, a part of the plan; ")
    assert "- new: 1 sample of 1 subject" in summary.read_text()


def test_alerts_come_from_whoever_has_all_results(address: str, tmp_path: Path) -> None:
    results = measured(tmp_path / "results", failed())
    CliRunner().invoke(app, ["alerts", "--results", str(results)])
    mine = alerts.load(results)
    assert mine is not None
    publish(address, results)
    part = measured(tmp_path / "part", label="3.3.8")
    CliRunner().invoke(app, ["alerts", "--results", str(part)])
    publish(address, part)
    there = copied(address, tmp_path / "there")
    assert alerts.load(there) == mine
    CliRunner().invoke(app, ["alerts", "--results", str(there)])
    publish(address, there)
    again = copied(address, there)
    assert alerts.load(again) != mine


def test_old_journals_are_compacted_if_it_is_asked_for(address: str, tmp_path: Path) -> None:
    old = [sample(started_at=LONG_AGO, hash_seed=seed) for seed in (1, 2)]
    publish(address, measured(tmp_path / "old", *old), "--compact-after", "never")
    done = publish(address, measured(tmp_path / "new", label="3.3.8"), "--compact")
    assert "1 journal compacted" in done.output
    assert "removed: 0 versions and 0 objects of 0 bytes" in done.output
    assert "is up to date" in publish(address, "--compact").output


def test_a_dry_run_writes_nothing(address: str, tmp_path: Path) -> None:
    done = publish(address, measured(tmp_path / "results"), "--dry-run")
    assert "new: 1 sample" in done.output
    assert f"Nothing was written to {address}, because of --dry-run." in done.output
    assert not any(copied(address, tmp_path / "there").glob("samples"))


def test_a_copy_is_brought_up_to_date_and_its_results_are_kept(
    address: str, tmp_path: Path
) -> None:
    publish(address, measured(tmp_path / "a"))
    there = copied(address, tmp_path / "there")
    measured(there, label="3.3.8")
    publish(address, measured(tmp_path / "b", label="3.3.6"))
    done = publish(address, there, "--checkout", there)
    assert "new: 1 sample of 1 subject" in done.output
    assert len(layout.journals(there)) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--push"], "--to and --branch or --push exclude each other"),
        (["--branch", "other"], "--to and --branch or --push exclude each other"),
        (["nowhere"], "there is no results directory nowhere"),
        (["--to", "s3:/bucket"], "write PROTOCOL://BUCKET/PREFIX"),
        ([], "there is nothing to publish; give a results directory"),
    ],
)
def test_a_mistake_is_a_sentence(
    address: str, tmp_path: Path, arguments: list[str], said: str
) -> None:
    given = [] if not arguments else [measured(tmp_path / "results"), *arguments]
    command = ["publish", "--to", address, *map(str, given)]
    done = CliRunner().invoke(app, command)
    assert isinstance(done.exception, ObservatoryError)
    assert said in str(done.exception)


def test_compact_goes_with_an_address() -> None:
    done = CliRunner().invoke(app, ["publish", "--compact"])
    assert isinstance(done.exception, SelectionError)


def test_without_an_address_fsspec_is_not_imported() -> None:
    code = (
        "import sys; import observatory.cli.commands.publish; "
        "sys.exit('fsspec' in sys.modules or 's3fs' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
