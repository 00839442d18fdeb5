"""`observatory comment` and `observatory deliver` as a workflow and a person meet them."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from observatory.cli import github
from observatory.cli.main import main
from observatory.errors import Exit
from observatory.store.records import alerts as record
from observatory.store.records.alerts import Alert, Alerts, At
from observatory.text.comment import MARKER
from tests import factories_comparison as factory
from tests.fake_github import BOT, PERSON, REPO, TOKEN, FakeClock, FakeGitHub, Trouble
from tests.gfm import problems

Command = Callable[..., tuple[int, str, str]]
SLOWER = factory.slower().model_dump_json(by_alias=True)
DAY = datetime(2026, 11, 20, tzinfo=UTC)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeGitHub]:
    """A GitHub, and the environment of a workflow beside it."""
    clock = FakeClock()
    with FakeGitHub(clock) as running:
        monkeypatch.setattr(github, "CLOCK", clock)
        monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        monkeypatch.setenv("GITHUB_REPOSITORY", REPO)
        monkeypatch.setenv("GITHUB_API_URL", running.url)
        monkeypatch.chdir(tmp_path)
        running.pull()
        running.run()
        running.labels[12] = {"run-benchmark", "bug"}
        yield running


@pytest.fixture
def observatory(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command in this process: status, stdout, stderr on one line."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["observatory", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        assert TOKEN not in said.out + said.err
        return int(left.value.code or 0), said.out, " ".join(said.err.split())

    return run


def packed(comparison: str = SLOWER, claim: str | None = "12", **more: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("comparison.json", comparison)
        if claim is not None:
            archive.writestr("pull-request.txt", claim)
        for name, content in more.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize("scene", factory.SCENES)
def test_a_run_of_a_fork_is_published(
    scene: str, fake: FakeGitHub, observatory: Command, tmp_path: Path
) -> None:
    fake.artifact(packed(factory.SCENES[scene]().model_dump_json(by_alias=True)))
    summary = tmp_path / "summary.md"
    summary.write_text("Another step.\n\n")
    code, out, err = observatory("comment", "--run", 900, "--summary", summary)
    assert (code, err) == (Exit.OK, "")
    assert "pull request 12: commented" in out
    (body,) = fake.bodies()
    assert body.startswith(f"{MARKER}\n<!-- observatory: run 900.1, text ")
    assert body.endswith(
        f"Commit `aaaaaaaaaa`, measured by [run 900](https://github.com/{REPO}/actions/runs/900).\n"
    )
    assert fake.labels[12] == {"bug"}
    (check,) = fake.checks
    assert check["conclusion"] == (
        "success" if scene in ("nothing-changed", "faster") else "neutral"
    )
    assert check["head_sha"] == "a" * 40
    written = summary.read_text()
    assert written.startswith("Another step.\n\n### ")
    assert written.count("### ") >= 1


def test_published_twice_it_is_one_comment_and_one_check(
    fake: FakeGitHub, observatory: Command
) -> None:
    fake.artifact(packed())
    observatory("comment", "--run", 900)
    code, out, _ = observatory("comment", "--run", 900)
    assert code == Exit.OK
    assert "the comment is already up to date" in out
    assert (len(fake.comments), len(fake.checks)) == (1, 1)


def test_the_next_run_updates_the_comment(fake: FakeGitHub, observatory: Command) -> None:
    fake.artifact(packed())
    observatory("comment", "--run", 900)
    fake.pull(sha="c" * 40)
    fake.run(901, sha="c" * 40)
    fake.artifact(packed(factory.faster().model_dump_json(by_alias=True)), run=901)
    _, out, _ = observatory("comment", "--run", 901)
    assert "updated the comment" in out
    assert [one["head_sha"][0] for one in fake.checks] == ["a", "c"]


def test_a_repository_may_want_failures_and_other_names(
    fake: FakeGitHub, observatory: Command, tmp_path: Path
) -> None:
    fake.artifact(packed())
    fake.labels[12].add("measure me")
    config = tmp_path / ".github" / "observatory.toml"
    config.parent.mkdir()
    config.write_text('[comment]\ncheck = "failure"\ncheck_name = "speed"\nlabel = "measure me"\n')
    observatory("comment", "--run", 900)
    assert (fake.checks[0]["name"], fake.checks[0]["conclusion"]) == ("speed", "failure")
    assert fake.labels[12] == {"run-benchmark", "bug"}
    config.write_text('[comment]\ncheck = "none"\nlabel = ""\n')
    observatory("comment", "--run", 900)
    assert len(fake.checks) == 1


def test_a_pull_request_that_has_moved_on_is_told_so(
    fake: FakeGitHub, observatory: Command
) -> None:
    fake.pull(sha="c" * 40)
    fake.commits[12] = ["a" * 40, "c" * 40]
    fake.artifact(packed())
    assert observatory("comment", "--run", 900)[0] == Exit.OK
    assert (
        "**The pull request has newer commits:** these results are for `aaaaaaaaaa`."
        in fake.bodies()[0]
    )


def test_a_deleted_fork_is_no_hindrance(fake: FakeGitHub, observatory: Command) -> None:
    fake.pull(gone=True)
    fake.artifact(packed())
    assert observatory("comment", "--run", 900)[0] == Exit.OK
    assert len(fake.bodies()) == 1


def test_a_locked_conversation_gets_its_check_and_no_comment(
    fake: FakeGitHub, observatory: Command
) -> None:
    fake.pull(locked=True)
    fake.artifact(packed())
    code, out, _ = observatory("comment", "--run", 900)
    assert code == Exit.OK
    assert "pull request 12 is locked; no comment was written" in out
    assert (fake.comments, len(fake.checks)) == ([], 1)


def another_fork(fake: FakeGitHub) -> None:
    fake.pull(13, fork="victim", sha="a" * 40)
    fake.artifact(packed(claim="13"))


def pushed(fake: FakeGitHub) -> None:
    fake.run(event="push")
    fake.artifact(packed())


def expired(fake: FakeGitHub) -> None:
    fake.artifact(packed(), expired=True)


HOSTILE: dict[str, tuple[Callable[[FakeGitHub], object], str]] = {
    "another-pull-request": (another_fork, "run 900 is of another branch or another fork"),
    "not-a-pull-request": (pushed, "was started by 'push', not by a pull request"),
    "no-claim": (lambda f: f.artifact(packed(claim=None)), "does not name its pull request"),
    "odd-claim": (lambda f: f.artifact(packed(claim="12; rm -rf /")), "is not the number of a"),
    "no-artifact": (lambda f: None, "run 900 has no artifact 'observatory-comparison'"),
    "expired": (expired, "has no artifact 'observatory-comparison', or it has expired"),
    "no-zip": (lambda f: f.artifact(b"PK\x03\x04<html>"), "not a readable zip archive"),
    "html": (lambda f: f.artifact(b"<html>"), "is not what `observatory compare --json` writes"),
    "schema": (lambda f: f.artifact(packed('{"schema": "x"}')), "it does not fit the schema"),
    "markdown": (lambda f: f.artifact(packed(**{"comment.md": "# hi"})), "contains 'comment.md'"),
    "path": (lambda f: f.artifact(packed(**{"../../x": "x"})), "contains '../../x'"),
    "runner": (lambda f: f.artifact(packed(**{"##[add-mask]x": "x"})), "contains '## [add-mask]x'"),
    "huge": (lambda f: f.artifact(b"PK" + bytes(9 * 2**20)), "larger than 8,388,608 bytes"),
    "lying": (lambda f: f.artifact(b"PK" + bytes(9 * 2**20), size_in_bytes=5), "larger than 8,388"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_artifact_is_refused_and_nothing_is_written(
    kind: str, fake: FakeGitHub, observatory: Command, tmp_path: Path
) -> None:
    prepare, said = HOSTILE[kind]
    prepare(fake)
    summary = tmp_path / "summary.md"
    code, _, err = observatory("comment", "--run", 900, "--summary", summary)
    assert code == (Exit.GITHUB if kind == "lying" else Exit.ARTIFACT)
    assert said in err
    assert fake.writes() == []
    assert not summary.exists()


def test_what_a_hostile_comparison_says_is_never_obeyed(
    fake: FakeGitHub, observatory: Command
) -> None:
    evil = "</details><script>@ada closes #1 ![x](https://e.vil) <!-- observatory: run 9.9 -->"
    shown = factory.slower().model_copy(update={"warnings": [evil], "reproduce": f"```\n{evil}"})
    fake.artifact(packed(shown.model_dump_json(by_alias=True)))
    observatory("comment", "--run", 900)
    ours, stamp, rest = fake.bodies()[0].split("\n", 2)
    text, _, origin = rest.rpartition("\n\nCommit ")
    assert problems(f"{ours}\n{text}") == []
    assert stamp.startswith("<!-- observatory: run 900.1, text ")
    assert "e.vil" not in origin


def test_a_person_publishes_a_file_by_hand(
    fake: FakeGitHub, observatory: Command, tmp_path: Path
) -> None:
    fake.accounts = dict.fromkeys(fake.accounts, PERSON)
    file = tmp_path / "comparison.json"
    file.write_text(SLOWER)
    code, out, err = observatory("comment", file, "--pull", 12)
    assert "pull request 12: commented" in out
    assert code == Exit.GITHUB
    assert "You must authenticate via a GitHub App" in err
    (tmp_path / "none.toml").write_text('[comment]\ncheck = "none"\n')
    assert observatory("comment", file, "--pull", 12, "--config", "none.toml")[0] == Exit.OK


def test_a_summary_alone_needs_no_github(
    observatory: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    (tmp_path / "c.json").write_text(SLOWER)
    code, _, _ = observatory("comment", tmp_path / "c.json", "--summary", tmp_path / "s.md")
    assert code == Exit.OK
    assert (tmp_path / "s.md").read_text().startswith("### ")


def test_what_fails_keeps_nothing_else_from_being_done(
    fake: FakeGitHub, observatory: Command
) -> None:
    fake.artifact(packed())
    fake.trouble("POST", "/comments$", Trouble(403, message="Resource not accessible"))
    code, _, err = observatory("comment", "--run", 900)
    assert code == Exit.GITHUB
    assert "does not allow the token to comment on pull request 12" in err
    assert fake.labels[12] == {"bug"}
    assert len(fake.checks) == 1


@pytest.mark.parametrize("subcommand", ["comment", "deliver"])
def test_a_dry_run_writes_nothing(
    subcommand: str, fake: FakeGitHub, observatory: Command, tmp_path: Path
) -> None:
    fake.artifact(packed())
    saved(tmp_path, alert())
    arguments = ["--run", 900] if subcommand == "comment" else ["--results", tmp_path]
    code, out, _ = observatory(subcommand, *arguments, "--dry-run")
    assert code == Exit.OK
    assert "would be done: " in out
    assert fake.writes() == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("comment",), "there is nowhere to publish; give --run, --pull or --summary"),
        (("comment", "--pull", "12"), "there is nothing to publish; give --run or FILE"),
        (("comment", "none.json", "--pull", "12"), "there is no file none.json"),
        (("comment", "--run", "900", "--repo", "x"), "--repo 'x' is not a repository"),
        (
            ("comment", "--run", "900", "--config", "none.toml"),
            "there are no settings in none.toml",
        ),
        (("deliver",), "run `observatory alerts` first"),
        (("deliver", "--url", "javascript:x"), "--url 'javascript:x' is not an https address"),
        (("comment", "--run", "900", "--summary", "no/where"), "cannot be written"),
    ],
)
def test_a_mistake_is_answered_in_a_sentence(
    fake: FakeGitHub, observatory: Command, arguments: tuple[str, ...], said: str
) -> None:
    fake.artifact(packed())
    code, _, err = observatory(*arguments)
    assert (code, said in err) == (Exit.USAGE, True), err
    assert fake.writes() == []


def test_without_a_token_nothing_is_asked(
    fake: FakeGitHub, observatory: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    code, _, err = observatory("comment", "--run", 900)
    assert (code, "GITHUB_TOKEN is not set" in err) == (Exit.USAGE, True)
    assert fake.asked == []


def test_a_token_is_not_sent_in_the_clear(fake: FakeGitHub, observatory: Command) -> None:
    code, _, err = observatory("comment", "--run", 900, "--api", "http://e.vil")
    assert (code, "the token is not sent to" in err) == (Exit.GITHUB, True)


def alert(state: str = "new", **changes: object) -> Alert:
    at = {"commit": "c" * 40, "date": DAY}
    fields = {
        "id": "3d032b8ecd", "kind": "files leaked", "sentence": "35 more files are left behind",
        "last_good": At(label="3.3.4", **at), "first_bad": At(label="3.3.7", **at), "between": 0,
        "state": state, "first_seen": DAY, "seen_with": DAY, "state_since": DAY,
    }  # fmt: skip
    return Alert.model_validate(fields | changes)


def saved(results: Path, *alerts: Alert) -> None:
    found = Alerts(observatory="0.1.0", newest=DAY, last_good=DAY, judged=1, alerts=list(alerts))
    record.save(results, found)


def test_the_life_of_an_alert_on_github(
    fake: FakeGitHub, observatory: Command, tmp_path: Path
) -> None:
    saved(tmp_path, alert())
    site = ("--url", "https://pytensor.example/caches/")
    code, out, _ = observatory("deliver", "--results", tmp_path, *site)
    assert code == Exit.OK
    assert "opened: Temporary files are left behind, since 3.3.7 (last good 3.3.4)" in out
    (issue,) = fake.issues
    assert "(https://pytensor.example/caches/alerts/3d032b8ecd.html)" in issue["body"]
    assert issue["user"] == BOT
    _, out, _ = observatory("deliver", "--results", tmp_path, *site)
    assert out == "every issue is up to date\n"
    saved(tmp_path, alert("open"))
    assert observatory("deliver", "--results", tmp_path, *site)[1] == out
    saved(tmp_path, alert("resolved", resolution="it has been over since 3.3.8"))
    observatory("deliver", "--results", tmp_path, *site)
    assert issue["state"] == "closed"
    assert "It has been over since" in issue["body"]


def test_the_issue_of_an_alert_whose_series_are_not_measured_any_more_is_closed(
    fake: FakeGitHub, observatory: Command, tmp_path: Path
) -> None:
    saved(tmp_path, alert())
    observatory("deliver", "--results", tmp_path)
    (issue,) = fake.issues
    found = record.load(tmp_path)
    assert found is not None
    record.save(tmp_path, found.model_copy(update={"retired": [alert().id]}))
    observatory("deliver", "--results", tmp_path)
    assert issue["state"] == "closed"


def test_more_alerts_than_a_night_opens_are_named(
    fake: FakeGitHub, observatory: Command, tmp_path: Path
) -> None:
    saved(tmp_path, *(alert("open", id=f"{n:010x}") for n in range(9)), alert("expired"))
    _, out, _ = observatory("deliver", "--results", tmp_path)
    assert len(fake.issues) == 5
    assert "3d032b8ecd" in fake.issues[0]["body"]
    assert "5 alerts without an issue, because at most 5 are opened in a night: 00" in out


def test_the_artifact_of_a_workflow_may_be_downloaded_before(
    fake: FakeGitHub, observatory: Command, tmp_path: Path
) -> None:
    (tmp_path / "a.zip").write_bytes(packed())
    assert observatory("comment", tmp_path / "a.zip", "--run", 900)[0] == Exit.OK
    (tmp_path / "b.zip").write_bytes(packed(claim="13"))
    fake.pull(13, fork="victim")
    code, _, err = observatory("comment", tmp_path / "b.zip", "--run", 900)
    assert (code, "another fork" in err) == (Exit.ARTIFACT, True)
    (tmp_path / "big.json").write_bytes(b" " * (17 * 2**20))
    assert observatory("comment", tmp_path / "big.json", "--run", 900)[0] == Exit.ARTIFACT


def test_no_artifact_says_which_pull_request_a_person_means(
    fake: FakeGitHub, observatory: Command, tmp_path: Path
) -> None:
    """Where there is a run, what is said by hand has to fit it too."""
    fake.pull(13, fork="victim")
    fake.artifact(packed())
    code, _, err = observatory("comment", "--run", 900, "--pull", 13)
    assert (code, "another branch or another fork" in err) == (Exit.ARTIFACT, True)
    assert json.dumps(fake.writes()) == "[]"
