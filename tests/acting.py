"""Acts workflows on this machine: the `run` steps in their order, and stand-ins for actions.

For tests only. It knows of GitHub what ours need: events, `if`, `needs`, called workflows with
their inputs and rights, composite actions, checkouts, artifacts, the cache and pages. A forge's git
repository is a bare one on this disk, and its API is `fake_github`. Every job gets an empty
directory, as on a hosted runner.
"""

from __future__ import annotations

import fnmatch
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.acting_expressions import evaluated, filled, is_true, shown

ROOT = Path(__file__).parents[1]
_LEVELS = ("none", "read", "write")
_CALLED = "/.github/workflows/"


class NotStarted(AssertionError):
    """GitHub refuses the run before any job begins."""


@dataclass
class Job:
    """One job that has ended."""

    result: str = "success"
    summary: str = ""
    log: str = ""
    jobs: dict[str, Job] = field(default_factory=dict)
    """Those of the called workflow, or of the matrix."""
    outputs: dict[str, str] = field(default_factory=dict)


@dataclass
class Acting:
    """A forge and its runners below one directory."""

    place: Path
    origin: Path
    """The bare repository of the project."""
    repository: str = "pymc-devs/pytensor"
    api: str = ""
    token: str = ""
    bin: Path | None = None
    """A directory of programs that come first on PATH."""
    variables: Mapping[str, str] = field(default_factory=dict)
    tool: Callable[[Path], None] = lambda into: checked_out_tool(into)
    artifacts: dict[str, Path] = field(default_factory=dict)
    """Of the current run."""
    lost: set[str] = field(default_factory=set)
    """Jobs of a matrix whose machines die before they begin, such as `measure 2`."""
    left_out: set[str] = field(default_factory=set)
    """Jobs that are skipped, because the test looks at others."""
    caches: dict[str, Path] = field(default_factory=dict)
    _number: int = 0

    def run(
        self, workflow: Path, name: str, event: Mapping[str, Any], ref: str,
        only: set[str] | None = None,
    ) -> dict[str, Job]:  # fmt: skip
        """Act a run of a workflow for an event; returns its jobs. ``only``: no others begin."""
        self.artifacts = {}
        self._number += 1
        loaded = yaml.safe_load(workflow.read_text())
        if only is not None:
            loaded["jobs"] = {one: job for one, job in loaded["jobs"].items() if one in only}
        assert name in loaded[True], f"{workflow.name} does not listen to {name}"
        github = {
            "event_name": name, "event": event, "ref": ref, "repository": self.repository,
            "run_id": str(1000 + self._number), "run_attempt": "1", "token": self.token,
        }  # fmt: skip
        return self._jobs(loaded, {"github": github, "inputs": {}, "vars": {}, "secrets": {}}, None)

    def _jobs(
        self, loaded: Any, context: dict[str, Any], rights: Mapping[str, str] | None
    ) -> dict[str, Job]:
        done: dict[str, Job] = {}
        for name, job in loaded["jobs"].items():
            own = job.get("permissions", loaded.get("permissions", {}))
            _check_rights(name, own, rights)
        for name, job in loaded["jobs"].items():
            own = job.get("permissions", loaded.get("permissions", {}))
            needs = job.get("needs", [])
            needed = {one: done[one] for one in ([needs] if isinstance(needs, str) else needs)}
            here = {
                **context,
                "needs": {
                    key: {"result": one.result, "outputs": one.outputs}
                    for key, one in needed.items()
                },
            }
            wanted = _wanted(job.get("if"), here, {one.result for one in needed.values()})
            if name in self.left_out or not wanted:
                done[name] = Job("skipped")
            elif "uses" in job:
                done[name] = self._called(job, here, own)
            elif "matrix" in job.get("strategy", {}):
                done[name] = self._matrix(name, job, here)
            else:
                done[name] = _Run(self, here, job, self._runner(name)).act()
        return done

    def _runner(self, name: str) -> Path:
        return self.place / f"runner-{self._number}-{name}"

    def _matrix(self, name: str, job: Any, context: dict[str, Any]) -> Job:
        """A job for each value of a matrix with one axis; those in ``lost`` never begin."""
        ((axis, values),) = job["strategy"]["matrix"].items()
        values = filled(values, context, {"fromJSON": json.loads})
        strategy = {"job-total": len(values)}
        jobs = {
            f"{name} {value}": Job("failure")
            if f"{name} {value}" in self.lost
            else _Run(
                self, {**context, "matrix": {axis: value}, "strategy": strategy}, job,
                self._runner(f"{name}-{value}"),
            ).act()
            for value in values
        }  # fmt: skip
        return together(jobs)

    def _called(self, job: Any, context: dict[str, Any], own: Mapping[str, str]) -> Job:
        path = ROOT / _CALLED[1:] / job["uses"].partition(_CALLED)[2].partition("@")[0]
        loaded = yaml.safe_load(path.read_text())
        declared = (loaded[True].get("workflow_call") or {}).get("inputs", {})
        given = {key: filled(one, context, {}) for key, one in job.get("with", {}).items()}
        if unknown := given.keys() - declared.keys():
            raise NotStarted(f"{path.name} has no inputs {unknown}")
        missing = {key for key, one in declared.items() if one.get("required")} - given.keys()
        if missing:
            raise NotStarted(f"{path.name} needs the inputs {missing}")
        inputs = {key: one.get("default") for key, one in declared.items()} | given
        secrets = {key: filled(one, context, {}) for key, one in job.get("secrets", {}).items()}
        may = (loaded[True].get("workflow_call") or {}).get("secrets", {})
        if unknown := secrets.keys() - may.keys():
            raise NotStarted(f"{path.name} has no secrets {unknown}")
        inside = {**context, "inputs": inputs, "secrets": secrets}
        jobs = self._jobs(loaded, inside, own)
        done, told = together(jobs), loaded[True]["workflow_call"] or {}
        inside["jobs"] = {name: {"outputs": one.outputs} for name, one in jobs.items()}
        done.outputs = {
            key: shown(filled(one["value"], inside, {}))
            for key, one in told.get("outputs", {}).items()
        }
        return done


def together(jobs: dict[str, Job]) -> Job:
    """What several jobs are for those that need them."""
    results = {one.result for one in jobs.values()}
    result = "failure" if "failure" in results else "success" if "success" in results else "skipped"
    return Job(result, "\n".join(one.summary for one in jobs.values()),
               "\n".join(one.log for one in jobs.values()), jobs)  # fmt: skip


@dataclass
class _Run:
    """A job on a runner of its own."""

    acting: Acting
    context: dict[str, Any]
    job: Any
    workspace: Path

    def act(self) -> Job:
        """Act the steps where every job of the repository has its directory, and keep that."""
        kept = self.workspace
        self.workspace = kept.parent / "work"
        self.workspace.mkdir(parents=True)
        self.name = kept.name
        try:
            return self._acted()
        finally:
            self.workspace.rename(kept)

    def _acted(self) -> Job:
        github = {**self.context["github"], "workspace": str(self.workspace)}
        self.context = {
            **self.context, "github": github,
            "runner": {"os": "Linux", "arch": "X64"},
            "job": {"workflow_repository": "the/observatory", "workflow_sha": "0" * 40},
        }  # fmt: skip
        ended = Job()
        summary, output = self.workspace / ".summary", self.workspace / ".output"
        self.files = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output),
                      "GITHUB_REPOSITORY": self.acting.repository,
                      "GITHUB_API_URL": self.acting.api, "RUNNER_OS": "Linux",
                      "RUNNER_ARCH": "X64"}  # fmt: skip
        steps = self._steps(self.job["steps"], ended)
        ended.summary = summary.read_text() if summary.exists() else ""
        self.context |= {"steps": steps}
        ended.outputs = {key: self._filled(one) for key, one in self.job.get("outputs", {}).items()}
        return ended

    def _steps(self, of_all: Any, ended: Job) -> dict[str, Any]:
        """Act the steps of the job, or of a composite action; returns the outputs by their ids."""
        steps: dict[str, Any] = {}
        for step in of_all:
            self.context |= {"steps": steps}
            self.functions = {
                "cancelled": lambda: False, "always": lambda: True,
                "success": lambda: ended.result == "success",
            }  # fmt: skip
            if not _wanted(step.get("if"), self.context, {ended.result}):
                continue
            env = {key: shown(self._filled(one)) for key, one in
                   {**self.job.get("env", {}), **step.get("env", {})}.items()}  # fmt: skip
            try:
                if step.get("uses", "").startswith("./"):
                    outputs = self._composite(step, ended)
                elif "uses" in step:
                    outputs = self._action(step)
                else:
                    outputs, said = self._command(step, env), self.last
                    ended.log += said
            except (subprocess.CalledProcessError, OSError) as error:
                ended.result = "failure"
                ended.log += f"{self.last}\n{error}\n"
                continue
            steps[step.get("id", "")] = {"outputs": outputs}
        return steps

    def _composite(self, step: Any, ended: Job) -> dict[str, str]:
        """Act a composite action, which is looked up in the workspace when its step begins."""
        place = self.workspace / step["uses"]
        loaded = yaml.safe_load((place / "action.yml").read_text())
        assert loaded["runs"]["using"] == "composite"
        given = {key: self._filled(one) for key, one in step.get("with", {}).items()}
        declared = loaded.get("inputs", {})
        assert given.keys() <= declared.keys(), f"{place} has no inputs {given.keys()}"
        outside = self.context
        self.context = {**outside, "inputs": {
            key: one.get("default", "") for key, one in declared.items()
        } | given}  # fmt: skip
        self.files["GITHUB_ACTION_PATH"] = str(place)
        steps = self._steps(loaded["runs"]["steps"], ended)
        self.context |= {"steps": steps}
        outputs = {
            key: shown(self._filled(one["value"])) for key, one in loaded.get("outputs", {}).items()
        }
        self.context = outside
        return outputs

    last = ""

    def _filled(self, text: Any) -> Any:
        return filled(text, self.context, self.functions)

    def _command(self, step: Any, env: Mapping[str, str]) -> dict[str, str]:
        given = {key: value for key, value in os.environ.items() if not key.startswith("GITHUB_")}
        first = f"{self.acting.bin}:" if self.acting.bin else ""
        given |= {**self.acting.variables, **self.files, **env, "PATH": first + given["PATH"]}
        where = self.workspace / self._filled(step.get("working-directory", "."))
        script = self.workspace / ".script"
        script.write_text(step["run"])
        began = time.monotonic()
        done = subprocess.run(
            ["/bin/bash", "-e", "-o", "pipefail", str(script)], cwd=where, env=given, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        outputs = Path(self.files["GITHUB_OUTPUT"])
        said = outputs.read_text() if outputs.exists() else ""
        outputs.unlink(missing_ok=True)
        self.last = f"$ {step['run'].strip()}\n{done.stdout}({time.monotonic() - began:.1f} s)\n"
        done.check_returncode()
        return dict(line.split("=", 1) for line in said.splitlines())

    def _action(self, step: Any) -> dict[str, str]:
        name = step["uses"].partition("@")[0].removeprefix("actions/").replace("/", "_")
        given = {key: self._filled(one) for key, one in step.get("with", {}).items()}
        return getattr(self, "_" + name.replace("-", "_"))(given) or {}

    def _checkout(self, given: Mapping[str, Any]) -> None:
        into = self.workspace / given.get("path", ".")
        if given.get("repository") == self.context["job"]["workflow_repository"]:
            self.acting.tool(into)
            return
        ref = given.get("ref") or self.context["github"]["ref"]
        git = ["git", "-C", str(into)]
        for command in (
            ["git", "clone", "--quiet", "--no-checkout", str(self.acting.origin), str(into)],
            [*git, "fetch", "--quiet", "origin", ref],
            [*git, "checkout", "--quiet", "--detach", "FETCH_HEAD"],
            # Whoever has no credentials cannot push.
            *([] if given.get("persist-credentials") else
              [[*git, "remote", "set-url", "--push", "origin", "no-credentials"]]),
        ):  # fmt: skip
            subprocess.run(command, check=True, capture_output=True)

    def _setup_python(self, given: Mapping[str, Any]) -> None:
        pass

    def _cache_restore(self, given: Mapping[str, Any]) -> dict[str, str]:
        caches = self.acting.caches
        for prefix in (given["key"], *str(given.get("restore-keys", "")).split()):
            for key in reversed(caches):
                if key.startswith(prefix):
                    shutil.copytree(caches[key], self.workspace / given["path"], symlinks=True)
                    return {"cache-hit": "true" if key == given["key"] else "false"}
        return {}

    def _cache_save(self, given: Mapping[str, Any]) -> None:
        path, key = self.workspace / given["path"], given["key"]
        if path.exists() and key not in self.acting.caches:
            self.acting.caches[key] = self.acting.place / "caches" / str(len(self.acting.caches))
            shutil.copytree(path, self.acting.caches[key], symlinks=True)

    def _upload_artifact(self, given: Mapping[str, Any]) -> None:
        path = self.workspace / given["path"]
        if not path.exists():
            assert given.get("if-no-files-found") != "error", f"there is no {path}"
            return
        kept = self.acting.place / "artifacts" / f"{self.name}-{given['name']}"
        shutil.copytree(path, kept)
        self.acting.artifacts[given["name"]] = kept

    def _download_artifact(self, given: Mapping[str, Any]) -> None:
        for name, kept in self.acting.artifacts.items():
            if fnmatch.fnmatch(name, given["pattern"]):
                into = self.workspace / given["path"]
                into = into if given.get("merge-multiple") else into / name
                shutil.copytree(kept, into, dirs_exist_ok=True)

    def _configure_pages(self, given: Mapping[str, Any]) -> dict[str, str]:
        return {"base_url": f"https://{self.acting.repository.replace('/', '.github.io/')}"}

    def _upload_pages_artifact(self, given: Mapping[str, Any]) -> None:
        self._upload_artifact({"name": "github-pages", **given})

    def _deploy_pages(self, given: Mapping[str, Any]) -> dict[str, str]:
        site = self.acting.place / "site"
        shutil.rmtree(site, ignore_errors=True)
        if "github-pages" not in self.acting.artifacts:
            raise FileNotFoundError("no artifact github-pages")
        shutil.copytree(self.acting.artifacts["github-pages"], site)
        return {"page_url": "https://example.org"}


def checked_out_tool(into: Path) -> None:
    """The working tree of the observatory, as links, without what its own runs have left."""
    into.mkdir(parents=True)
    for path in ROOT.iterdir():
        if path.name == ".github":  # its actions find the rest beside themselves
            shutil.copytree(path, into / path.name)
        elif path.name not in (".venv", ".observatory", "html"):
            (into / path.name).symlink_to(path)


def _wanted(condition: Any, context: Mapping[str, Any], before: set[str]) -> bool:
    """Whether a job or step runs after others, which have ended in these ways."""
    text = str(condition if condition is not None else "success()").strip()
    text = text.removeprefix("${{").removesuffix("}}")
    went_well = not before & {"failure", "skipped"}
    functions = {
        "success": lambda: went_well, "always": lambda: True, "cancelled": lambda: False,
        "failure": lambda: "failure" in before,
        "contains": lambda where, what: what in (where or ()),
        "startsWith": lambda whole, part: str(whole).startswith(part),
    }  # fmt: skip
    states = ("success()", "always()", "cancelled()", "failure()")
    implied = True if any(one in text for one in states) else went_well
    return implied and is_true(evaluated(text, context, functions))


def _check_rights(name: str, own: Mapping[str, str], most: Mapping[str, str] | None) -> None:
    """A called workflow asks for no more than the job that calls it has."""
    for right, level in own.items() if most is not None else ():
        if _LEVELS.index(level) > _LEVELS.index((most or {}).get(right, "none")):
            raise NotStarted(f"the job {name} asks for {right}: {level}")
