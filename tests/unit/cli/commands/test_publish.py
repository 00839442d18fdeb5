from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from observatory.analyze.series_keys import SelectionError
from observatory.cli.main import app
from observatory.errors import Exit
from observatory.run.branch import NotMovedError
from observatory.store.asv.files import project
from observatory.store.base.files import write_atomic
from observatory.store.base.problems import RecordError
from observatory.store.journal.reader import read_journal
from observatory.store.records import alerts, layout, triage
from observatory.store.records.alerts import Acknowledgement
from observatory.store.records.sample import Sample
from tests.factories import LATER, NOON, RUN, failed, header, journal, sample
from tests.factories_asv import foreign, put
from tests.factories_git import git

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--bare", "remote.git")
    git(tmp_path, "clone", "--quiet", "remote.git", "repo")
    return tmp_path / "repo"


def measured(where: Path, *samples: Sample, run: str = RUN, label: str = "3.3.7") -> Path:
    made = journal(where, samples or [sample()], run, header(label))
    project(where, made.read())
    return where


def publish(repo: Path, *arguments: object) -> Result:
    given = [str(one) for one in arguments]
    return CliRunner().invoke(app, ["publish", *given, "--repo", str(repo)])


def on(repo: Path, where: Path, *more: str) -> Path:
    """What the branch holds."""
    assert publish(repo, "--checkout", where, *more).exit_code == 0
    return where


def test_a_branch_that_is_not_there_is_an_empty_directory_and_is_not_begun(
    repo: Path, tmp_path: Path
) -> None:
    there = on(repo, tmp_path / "there", "--push")
    assert list(there.iterdir()) == []
    assert git(repo, "branch", "--all") == ""


def test_results_are_on_the_branch_and_a_second_time_nothing_is_new(
    repo: Path, tmp_path: Path
) -> None:
    results = measured(tmp_path / "results")
    first = publish(repo, results, "--push")
    assert first.exit_code == Exit.OK
    assert "new: 1 sample of 1 subject" in first.output
    assert re.search(r"pushed \w{10} to results of origin, a new branch", first.output)
    again = publish(repo, results, "--push")
    assert "results of origin is up to date" in again.output
    assert git(repo, "rev-list", "--count", "origin/results") == "1"


def test_the_commit_says_what_it_adds(repo: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    for label in ("3.3.4", "3.3.5", "3.3.6", "3.3.7"):
        measured(results, label=label)
    publish(repo, results)
    subject = git(repo, "log", "-1", "--format=%s", "results")
    assert re.fullmatch(r"Results: (3\.3\.\d, ){2}3\.3\.\d and 1 more on bench", subject)
    put(tmp_path / "asv", foreign({"a": [[1.0]]}))
    publish(repo, tmp_path / "asv")
    assert git(repo, "log", "-1", "--format=%s", "results") == "Results: new files"


def test_what_is_published_is_read_like_what_was_measured(repo: Path, tmp_path: Path) -> None:
    results = measured(tmp_path / "results", sample(), failed())
    publish(repo, results)
    there = on(repo, tmp_path / "there")
    (mine,), (theirs,) = layout.journals(results), layout.journals(there)
    assert theirs.read_bytes() == mine.read_bytes()
    assert layout.asv_path(there, "bench", header().subject).is_file()
    assert "Only the acknowledgements" in (there / "README.md").read_text()


def test_shards_of_a_matrix_are_published_together(repo: Path, tmp_path: Path) -> None:
    parts = [
        measured(tmp_path / "fork"),
        measured(tmp_path / "spawn", sample(metrics={"compile_time": 2}), run=LATER),
    ]
    done = publish(repo, *parts)
    assert "new: 2 samples of 1 subject" in done.output
    (path,) = layout.journals(on(repo, tmp_path / "there"))
    assert [entry.run for entry in read_journal(path).entries] == [RUN, LATER]


def test_a_dry_run_says_what_it_would_do_and_does_nothing(repo: Path, tmp_path: Path) -> None:
    done = publish(repo, measured(tmp_path / "results"), "--dry-run", "--push")
    assert "new: 1 sample" in done.output
    assert "Nothing was committed to results of origin, because of --dry-run" in done.output
    assert git(repo, "branch", "--all") == ""


def test_old_journals_are_compacted_and_new_ones_are_not(repo: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    old = [sample(started_at=LONG_AGO, hash_seed=seed) for seed in (1, 2)]
    measured(results, *old, label="2.35.1")
    measured(results, sample(started_at=datetime.now(UTC)), sample())
    done = publish(repo, results, "--compact-after", "4w")
    assert re.search(r"1 journal compacted, [\d,]+ to [\d,]+ bytes", done.output)
    there = on(repo, tmp_path / "there")
    kept = {
        read.header.subject.label: [entry.sample.environment != {} for entry in read.entries]
        for read in map(read_journal, layout.journals(there))
        if read.header
    }
    assert kept == {"2.35.1": [True, False], "3.3.7": [True, True]}
    again = publish(repo, results, "--compact-after", "4w")
    assert "is up to date" in again.output


def test_who_only_fetches_writes_nothing(repo: Path, tmp_path: Path) -> None:
    """A job of a pull request may not write, and journals become old by themselves."""
    results = measured(tmp_path / "results", sample(started_at=LONG_AGO))
    assert publish(repo, results, "--push", "--compact-after", "never").exit_code == 0
    tip = git(repo, "rev-parse", "origin/results")
    there = on(repo, tmp_path / "there", "--push")
    assert layout.journals(there)
    assert git(repo, "ls-remote", "origin", "results").split()[0] == tip


def test_a_branch_that_is_not_there_is_named(repo: Path, tmp_path: Path) -> None:
    done = publish(repo, "--checkout", tmp_path / "there", "--push", "--branch", "reslts")
    assert "reslts of origin does not exist yet; " in done.output
    assert done.output.strip().endswith("is empty.")


def test_never_compacts_nothing(repo: Path, tmp_path: Path) -> None:
    results = measured(
        tmp_path / "results", *(sample(started_at=LONG_AGO, hash_seed=seed) for seed in (1, 2))
    )
    assert "compacted" not in publish(repo, results, "--compact-after", "never").output


def found(results: Path) -> alerts.Alerts:
    CliRunner().invoke(app, ["alerts", "--results", str(results)])
    there = alerts.load(results)
    assert there is not None
    return there


def test_alerts_come_from_whoever_has_all_results(repo: Path, tmp_path: Path) -> None:
    results = measured(tmp_path / "results", failed())
    mine = found(results)
    assert [alert.kind for alert in mine.alerts] == ["failed run"]
    publish(repo, results)
    assert alerts.load(on(repo, tmp_path / "1")) == mine
    part = measured(tmp_path / "part", sample(started_at=NOON + timedelta(days=1)), label="3.3.8")
    assert found(part).alerts == []
    publish(repo, part)
    there = on(repo, tmp_path / "2")
    assert alerts.load(there) == mine
    theirs = found(there)
    assert theirs.newest == NOON + timedelta(days=1)
    publish(repo, there)
    assert alerts.load(on(repo, tmp_path / "3")) == theirs
    publish(repo, results)
    assert alerts.load(on(repo, tmp_path / "4")) == theirs
    alerts.save(there, mine)  # all of the results, but found before the last of them were there
    publish(repo, there)
    assert alerts.load(on(repo, tmp_path / "5")) == theirs


def test_broken_alerts_are_named_and_replaced_by_nothing(repo: Path, tmp_path: Path) -> None:
    results = measured(tmp_path / "results")
    write_atomic(results / alerts.FILE, b"{}")
    done = publish(repo, results, "--strict")
    assert done.exit_code == Exit.UNREADABLE
    assert "is not what `observatory alerts` writes" in done.output.replace("\n", " ")
    there = on(repo, tmp_path / "there")
    assert alerts.load(there) is None
    assert len(layout.journals(there)) == 1


def test_what_people_wrote_on_the_branch_stays(repo: Path, tmp_path: Path) -> None:
    results = measured(tmp_path / "results")
    said = Acknowledgement(id="0" * 10, who="Ada", why="known", at=NOON, until=NOON)
    triage.add(results, said)
    publish(repo, results)
    triage.add(results, said.model_copy(update={"why": "of the laptop"}))
    done = publish(repo, results)
    assert "is not taken over" in done.output
    assert [one.why for one in triage.load(on(repo, tmp_path / "there")).acknowledged] == ["known"]


def test_a_push_that_cannot_be_done_has_a_status_of_its_own(repo: Path, tmp_path: Path) -> None:
    git(repo, "remote", "set-url", "origin", str(tmp_path / "gone.git"))
    done = publish(repo, measured(tmp_path / "results"), "--push")
    assert isinstance(done.exception, NotMovedError)
    assert done.exception.exit_code is Exit.UNPUBLISHED
    assert "nothing was published" in str(done.exception)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "there is no results directory nowhere"),
        ([], "there is nothing to publish; give a results directory"),
        (["RESULTS", "--compact-after", "soon"], "is not a length of time"),
        (["RESULTS", "--branch", "a..b"], "cannot be the name of a branch"),
        (["RESULTS", "--remote", "none", "--push"], "has no remote 'none'"),
        (["RESULTS", "--checkout", "RESULTS"], "is not empty"),
    ],
)
def test_a_mistake_is_a_sentence(
    repo: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    results = measured(tmp_path / "results")
    done = publish(repo, *(str(results) if one == "RESULTS" else one for one in arguments))
    assert isinstance(done.exception, RecordError | SelectionError)
    assert said in str(done.exception)
