"""What `observatory init` writes, acted from the first night to the comment and the pages.

Nothing is measured: tests/acted_measuring.py stands in for what would. Every other command is real.
"""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from observatory.app.measurement import chosen_tasks
from observatory.cli.main import app
from observatory.run.incomplete import lacking
from observatory.run.placing import Shard
from observatory.run.presets import Narrowed
from observatory.store.journal.reader import read_journal
from observatory.store.records import layout
from observatory.store.records.sample import Sample
from tests.acted_measuring import LOG, install
from tests.acting import ROOT, Acting, Job, checked_out_tool
from tests.fake_github import REPO, TOKEN, FakeGitHub

pytestmark = pytest.mark.long

NIGHT = {"schedule": "41 1 * * *"}
RESULTS = "observatory-results"


@dataclass
class Adopter:
    """A project on a forge, and the runners of the forge."""

    clone: Path
    acting: Acting
    forge: FakeGitHub

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=A", "-c", "user.email=a@b")
        done = subprocess.run(["git", "-C", str(self.clone), *who, *arguments], check=True,
                              capture_output=True, text=True)  # fmt: skip
        return done.stdout.strip()

    def commit(self, message: str, push: str = "main") -> str:
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        self.git("push", "--quiet", "origin", f"HEAD:{push}")
        return self.git("rev-parse", "HEAD")

    def run(self, name: str, event: dict[str, Any], file: str = "observatory.yml",
            ref: str = "refs/heads/main",
            only: set[str] | None = None) -> dict[str, Job]:  # fmt: skip
        event = {"repository": {"default_branch": "main"}, **event}
        return self.acting.run(self.clone / ".github/workflows" / file, name, event, ref, only)

    def log(self) -> list[str]:
        """The commands that measure."""
        log = Path(self.acting.variables[LOG])
        return log.read_text().splitlines() if log.exists() else []

    def measured(self) -> list[str]:
        """The commits that `run` was asked to measure, each once, in their order."""
        lines = self.log()
        Path(self.acting.variables[LOG]).unlink(missing_ok=True)
        found = [line.partition("@ git+")[2].partition("@")[2][:40] for line in lines
                 if line.startswith("run ") and "--preset history" in line]  # fmt: skip
        return list(dict.fromkeys(found))


@pytest.fixture
def adopter(tmp_path: Path) -> Iterator[Adopter]:
    origin, clone, programs = tmp_path / "origin.git", tmp_path / "clone", tmp_path / "bin"
    for command in (["init", "--quiet", "--bare", "--initial-branch=main", str(origin)],
                    ["clone", "--quiet", str(origin), str(clone)]):  # fmt: skip
        subprocess.run(["git", *command], check=True, capture_output=True)
    (clone / "pyproject.toml").write_text('[project]\nname = "pytensor"\n')
    programs.mkdir()
    (programs / "sudo").write_text("#!/bin/sh\n")
    (programs / "sudo").chmod(0o755)
    (programs / "python").symlink_to(sys.executable)
    # Counting instructions is never asked for: without valgrind a night says so and goes on.

    def tool(into: Path) -> None:
        checked_out_tool(into)
        (into / ".venv").symlink_to(Path(sys.prefix))
        (into / "scripts").unlink()
        (into / "scripts").mkdir()
        for path in (ROOT / "scripts").glob("*.py"):
            (into / "scripts" / path.name).symlink_to(path)
        (into / "scripts" / "make_tool_environment.sh").write_text("# it is there already\n")

    with FakeGitHub() as forge:
        acting = Acting(
            tmp_path / "runners", origin, REPO, forge.url, TOKEN, programs, tool=tool,
            variables={"PYTHONPATH": str(install(tmp_path / "site")), LOG: str(tmp_path / "log")},
        )  # fmt: skip
        one = Adopter(clone, acting, forge)
        done = CliRunner().invoke(app, ["init", str(clone), "--only", "compare,nightly"])
        assert done.exit_code == 0, done.output
        file = clone / ".github/workflows/observatory.yml"
        file.write_text(file.read_text().replace("most: 8", "most: 2"))
        one.git("add", ".")
        one.commit("Adopt the observatory")
        yield one


def test_from_init_to_the_comment_and_the_pages(adopter: Adopter) -> None:
    first = adopter.git("rev-parse", "HEAD")
    jobs = adopter.run("schedule", NIGHT)
    assert {name: job.result for name, job in jobs.items()} == {
        "comment": "skipped", "commits": "success", "publish": "success", "pages": "success"
    }, logs(jobs)  # fmt: skip
    faults = [line for line in adopter.log() if line.startswith("torture")]
    assert len(faults) == 1
    assert faults[0].startswith("torture newest --new --budget 60m --stored stored --results shard")
    assert adopter.measured() == [first]
    adopter.git("fetch", "--quiet", "origin", RESULTS)
    assert f"{first[:8]}-" in adopter.git("ls-tree", "-r", "--name-only", "FETCH_HEAD")
    assert (adopter.acting.place / "site" / "index.html").is_file()

    jobs = adopter.run("schedule", NIGHT, only={"commits"})
    assert adopter.measured() == []
    assert jobs["commits"].result == "success", logs(jobs)
    assert f"{first[:10]} is the newest commit and has results" in jobs["commits"].summary.replace(
        "`", ""
    )

    pushed = [adopter.commit(str(number)) for number in range(4)]
    adopter.acting.left_out = {"check"}
    jobs = adopter.run("schedule", NIGHT, only={"commits"})
    assert adopter.measured() == [pushed[1], pushed[3]]
    said = jobs["commits"].summary.replace("`", "")
    assert f"2 commits to measure since {first[:10]}" in said
    assert f"2 of the commits since then are left out: 1 between {first[:10]}" in said
    everything = adopter.acting.artifacts["shard-search"]
    assert {path.name[:8] for path in everything.glob("samples/*/*.jsonl")} == {
        one[:8] for one in (first, pushed[1], pushed[3])
    }  # fmt: skip
    part = adopter.acting.artifacts["shard-commits-2-of-3"]
    assert {path.name[:8] for path in part.glob("samples/*/*.jsonl")} == {
        one[:8] for one in (pushed[1], pushed[3])
    }

    body, forge = compared(adopter), adopter.forge
    assert "35 functions stopped hitting the cache" in body
    assert "run-benchmark" not in forge.labels[12]
    assert [one["head_sha"] for one in forge.checks] == ["a" * 40]


def test_a_lost_part_is_named_and_taken_in_the_next_night_also_from_an_object_store(
    adopter: Adopter, tmp_path: Path
) -> None:
    kept, store = "s3://bucket/nights", tmp_path / "store"
    done = CliRunner().invoke(
        app, ["init", str(adopter.clone), "--only", "compare,nightly", "--force", "--store", kept]
    )
    assert done.exit_code == 0, done.output
    store.mkdir()
    file = adopter.clone / ".github/workflows/observatory.yml"
    file.write_text(file.read_text().replace(kept, store.as_uri()))
    adopter.git("add", ".")
    first = adopter.commit("Keep the results in an object store")

    adopter.acting.lost = {"measure 2"}
    jobs = adopter.run("schedule", NIGHT, only={"commits", "publish"})
    assert jobs["publish"].result == "success", logs(jobs)
    assert jobs["commits"].result == "failure"
    assert {name: job.result for name, job in jobs["commits"].jobs.items()} == {
        "plan": "success", "measure": "failure", "check": "success", "search": "success"
    }, logs(jobs)  # fmt: skip
    said = jobs["commits"].summary.replace("`", "")
    assert "missing: shard-commits-2-of-3, a part of the plan" in said
    everything = adopter.acting.artifacts["shard-search"]
    (journal,) = everything.glob("samples/*/*.jsonl")
    assert journal.name.startswith(first[:8])
    assert adopter.measured() == [first]
    assert adopter.git("ls-remote", "origin", RESULTS) == ""
    plan = chosen_tasks("history", Narrowed(None, None, None, None))
    lost = Shard(2, 3).tasks(plan)
    before = kept_in(store, tmp_path / "before")
    assert {task.cell for task in lacking(plan, before)} == {task.cell for task in lost}

    adopter.acting.lost = set()
    jobs = adopter.run("schedule", NIGHT, only={"commits", "publish"})
    assert {job.result for job in jobs.values()} == {"success"}, logs(jobs)
    said = jobs["commits"].summary.replace("`", "")
    assert f"Samples that an earlier night did not take are taken now: {first[:10]}" in said
    parts = [adopter.acting.artifacts[f"shard-commits-{number}-of-3"] for number in (1, 2, 3)]
    assert [len(list(part.glob("samples/*/*.jsonl"))) for part in parts] == [0, 1, 0]
    after = kept_in(store, tmp_path / "after")
    assert lacking(plan, after) == []
    assert len(after) == len(plan)


def kept_in(store: Path, into: Path) -> list[Sample]:
    """The samples of the one subject in an object store."""
    command = ["publish", "--to", store.as_uri(), "--checkout", str(into)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    (journal,) = layout.journals(into)
    return [one.sample for one in read_journal(journal).entries]


def compared(adopter: Adopter) -> str:
    """Label a pull request; returns the comment that it gets."""
    adopter.git("checkout", "--quiet", "-b", "fix")
    adopter.commit("a change", push="refs/pull/12/head")
    adopter.git("checkout", "--quiet", "main")
    adopter.git("merge", "--quiet", "--no-ff", "-m", "merge", "fix")
    adopter.git("push", "--quiet", "origin", "HEAD:refs/pull/12/merge")
    forge = adopter.forge
    forge.pull()
    forge.run()
    forge.labels[12] = {"run-benchmark"}
    labelled = {
        "action": "labeled", "label": {"name": "run-benchmark"},
        "pull_request": {"number": 12, "labels": [{"name": "run-benchmark"}]},
    }  # fmt: skip
    jobs = adopter.run(
        "pull_request", labelled, "observatory-pull-request.yml", "refs/pull/12/merge"
    )
    assert jobs["compare"].result == "success", jobs["compare"].log
    forge.artifact(zipped(adopter.acting.artifacts["observatory-comparison"]))
    ended = {"workflow_run": {"id": 900, "event": "pull_request", "conclusion": "success"}}
    jobs = adopter.run("workflow_run", ended)
    assert {name: job.result for name, job in jobs.items()} == {
        "comment": "success", "commits": "skipped", "publish": "skipped", "pages": "skipped"
    }, logs(jobs)  # fmt: skip
    (body,) = forge.bodies()
    return str(body)


def logs(jobs: dict[str, Job]) -> str:
    return "\n".join(f"== {name}: {job.result}\n{job.log}" for name, job in jobs.items())


def zipped(directory: Path) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for path in directory.iterdir():
            archive.write(path, path.name)
    return made.getvalue()


@pytest.mark.parametrize(
    ("event", "result"),
    [
        ({"action": "labeled", "label": {"name": "bug"}}, "skipped"),
        ({"action": "labeled", "label": {"name": "run-benchmark"}}, "success"),
    ],
)
def test_another_label_compares_nothing(
    adopter: Adopter, event: dict[str, Any], result: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.acting._Run.act", lambda self: Job())
    event["pull_request"] = {"number": 12, "labels": [{"name": "run-benchmark"}]}
    jobs = adopter.run("pull_request", event, "observatory-pull-request.yml")
    assert jobs["compare"].result == result


def test_a_pull_request_that_is_not_compared_gets_no_comment(adopter: Adopter) -> None:
    ended = {"workflow_run": {"id": 900, "event": "pull_request", "conclusion": "skipped"}}
    jobs = adopter.run("workflow_run", ended)
    assert {job.result for job in jobs.values()} == {"skipped"}
    assert adopter.forge.writes() == []
