from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner, Result

from observatory.benchmarks.catalogue import MEASURES
from observatory.cli.main import app
from observatory.cli.options import seconds
from observatory.github import settings
from observatory.run.adoption import files_for, look, this_tool
from observatory.store.base.problems import RecordError

ROOT = Path(__file__).parents[4]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOOL = ("--observatory", "someone/observatory", "--commit", COMMIT)
WORKFLOWS = Path(".github", "workflows")
PYTENSOR = '[project]\nname = "pytensor"\ndependencies = ["numba>=0.58,<=0.68", "scipy"]\n'
BENCHMARK = "def test_add(benchmark):\n    benchmark(sum, [1])\n"
ASV = '// a comment\n{"version": 1, "project": "p", "repo": ".", "results_dir": ".asv/results"}\n'


def git(where: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(where), *arguments], check=True, capture_output=True)


def checkout(tmp_path: Path, **contents: str) -> Path:
    """A repository of these files; `__` in a name is a directory."""
    where = tmp_path / "project"
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(where))
    for name, content in contents.items():
        path = where / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    git(where, "add", ".")
    git(where, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet",
        "--allow-empty", "-m", "x")  # fmt: skip
    return where


@pytest.fixture
def pytensor(tmp_path: Path) -> Path:
    return checkout(
        tmp_path, pyproject_DOT_toml=PYTENSOR, tests__benchmarks__test_x_DOT_py=BENCHMARK,
        asv_DOT_conf_DOT_json=ASV,
    )  # fmt: skip


def init(where: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["init", str(where), *TOOL, *arguments])


def written(where: Path) -> set[str]:
    return {str(path.relative_to(where)) for path in (where / ".github").rglob("*.*")}


def test_pytensor_gets_comparison_history_and_its_own_benchmarks(pytensor: Path) -> None:
    done = init(pytensor)
    assert done.exit_code == 0, done.output
    names = ("", "-answers", "-asv", "-benchmarks", "-nightly", "-numba-bound")
    assert written(pytensor) == {
        ".github/observatory.toml", *(f".github/workflows/observatory{n}.yml" for n in names)
    }  # fmt: skip
    assert "7 files written." in done.output
    assert "pytest-benchmark in tests/benchmarks" in done.output


def test_a_project_with_pytest_benchmark_gets_what_runs_and_imports_it(tmp_path: Path) -> None:
    where = checkout(tmp_path, bench__test_x_DOT_py=BENCHMARK)
    init(where)
    assert written(where) == {
        ".github/observatory.toml", ".github/workflows/observatory-benchmarks.yml",
    }  # fmt: skip
    text = (where / WORKFLOWS / "observatory-benchmarks.yml").read_text()
    assert "-m pytest bench --benchmark-only --benchmark-json ../saved.json" in " ".join(
        text.split()
    )
    assert "observatory import saved.json --results shard" in text
    assert "branches: [main]" in text


def test_a_project_with_asv_is_shown_as_it_is(tmp_path: Path) -> None:
    where = checkout(tmp_path, asv_bench__asv_DOT_conf_DOT_json=ASV)
    init(where)
    text = (where / WORKFLOWS / "observatory-asv.yml").read_text()
    assert "working-directory: project/asv_bench" in text
    assert "path: project/asv_bench/.asv/results" in text


def test_a_subdirectory_means_its_repository(pytensor: Path) -> None:
    init(pytensor / "tests")
    assert (pytensor / WORKFLOWS / "observatory.yml").exists()
    assert not (pytensor / "tests" / ".github").exists()


def test_the_default_branch_is_that_of_the_remote(tmp_path: Path) -> None:
    where = checkout(tmp_path, bench__test_x_DOT_py=BENCHMARK)
    git(where, "branch", "--move", "trunk")
    git(tmp_path, "clone", "--quiet", str(where), "clone")
    git(tmp_path / "clone", "checkout", "--quiet", "-b", "main")
    assert look(tmp_path / "clone").branch == "trunk"


def test_nothing_is_ever_written_over(pytensor: Path) -> None:
    mine = pytensor / WORKFLOWS / "observatory.yml"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    done = init(pytensor)
    assert mine.read_text() == "mine"
    assert "observatory.yml: exists and was not changed" in done.output
    assert "6 files written." in done.output


def test_a_second_time_says_that_all_is_there(pytensor: Path) -> None:
    init(pytensor)
    done = init(pytensor)
    assert done.output.count("already up to date") == 7
    assert "0 files written." in done.output


def test_force_keeps_what_was_there_under_a_name_that_is_no_workflow(pytensor: Path) -> None:
    mine = pytensor / WORKFLOWS / "observatory.yml"
    mine.parent.mkdir(parents=True)
    for text in ("first", "second"):
        mine.write_text(text)
        init(pytensor, "--force")
    assert mine.read_text().startswith("# Reports on a pull request")
    assert mine.with_name("observatory.yml.bak").read_text() == "first"
    assert mine.with_name("observatory.yml.bak1").read_text() == "second"


def test_a_dry_run_prints_all_and_writes_nothing(pytensor: Path) -> None:
    done = init(pytensor, "--dry-run")
    assert "# .github/workflows/observatory-nightly.yml" in done.output
    assert f"compare.yml@{COMMIT}" in done.output
    assert not (pytensor / ".github").exists()


def test_the_settings_are_the_defaults(pytensor: Path) -> None:
    init(pytensor)
    assert settings.load(pytensor / ".github" / "observatory.toml") == settings.Settings()


@pytest.mark.parametrize(
    ("contents", "arguments", "said"),
    [
        ({"x_DOT_py": "def test_x(): ..."}, TOOL, "add benchmarks first"),
        ({"tests__a_DOT_py": BENCHMARK}, (), "add --observatory OWNER/NAME --commit HASH"),
        ({"tests__a_DOT_py": BENCHMARK}, (*TOOL[:3], "main"), "is not a full commit hash"),
        ({"tests__a_DOT_py": BENCHMARK}, ("--observatory", "x", *TOOL[2:]), "is not a repository"),
        ({"pyproject_DOT_toml": "[", "tests__a_DOT_py": BENCHMARK}, TOOL, "is not valid TOML"),
        ({"a b__a_DOT_py": BENCHMARK}, TOOL, "cannot be written into a workflow"),
        ({"asv_DOT_conf_DOT_json": "{"}, TOOL, "cannot be read"),
        ({"asv_DOT_conf_DOT_json": '{"results_dir": "../x"}'}, TOOL, "outside of the repository"),
    ],
)
def test_a_mistake_is_a_sentence(
    tmp_path: Path, contents: dict[str, str], arguments: tuple[str, ...], said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("observatory.cli.commands.init._HOME", tmp_path)
    done = CliRunner().invoke(app, ["init", str(checkout(tmp_path, **contents)), *arguments])
    assert isinstance(done.exception, RecordError)
    assert said in str(done.exception)
    assert not (tmp_path / "project" / ".github").exists()


def test_what_is_no_repository_is_said(tmp_path: Path) -> None:
    done = init(tmp_path)
    assert "not a git repository" in str(done.exception)


def test_a_clone_knows_where_it_is_from(tmp_path: Path) -> None:
    where = checkout(tmp_path)
    git(where, "remote", "add", "origin", "git@github.com:some-one/the.observatory.git")
    found = this_tool(None, None, where)
    assert found.repository == "some-one/the.observatory"
    assert re.fullmatch(r"[0-9a-f]{40}", found.commit)


def generated(where: Path) -> list[Path]:
    init(where)
    return sorted((where / WORKFLOWS).glob("*.yml"))


def every_workflow(pytensor: Path) -> list[Path]:
    return [*generated(pytensor), *sorted((ROOT / WORKFLOWS).glob("*.yml"))]


def test_every_workflow_has_no_rights_but_those_that_a_job_names(pytensor: Path) -> None:
    for path in every_workflow(pytensor):
        loaded = yaml.safe_load(path.read_text())
        assert loaded["permissions"] == {}, path
        for name, job in loaded["jobs"].items():
            assert "permissions" in job or job.get("uses", "").endswith(f"compare.yml@{COMMIT}"), (
                path, name,
            )  # fmt: skip


def test_every_action_and_workflow_is_pinned_by_its_full_hash(pytensor: Path) -> None:
    for path in every_workflow(pytensor):
        for line in path.read_text().splitlines():
            found = re.search(r"^\s*(?:- )?uses: (\S+)(.*)", line)
            if found is None or found[1].startswith("./"):
                continue
            assert re.search(r"@[0-9a-f]{40}$", found[1]), (path, line)
            if "someone/" not in found[1]:
                assert re.search(r"# v\d+\.\d+\.\d+$", found[2]), (path, line)


def test_every_job_ends_and_none_puts_what_strangers_wrote_into_a_command(pytensor: Path) -> None:
    for path in every_workflow(pytensor):
        for name, job in yaml.safe_load(path.read_text())["jobs"].items():
            assert "uses" in job or job["timeout-minutes"] <= 300, (path, name)
            for step in job.get("steps", ()):
                assert "${{" not in step.get("run", ""), (path, name)


def _triggers(path: Path) -> Any:
    return yaml.safe_load(path.read_text())[True]  # what YAML makes of `on`


def test_what_runs_a_pull_request_has_no_right_and_what_has_rights_runs_none(
    pytensor: Path,
) -> None:
    here = {path.name: path for path in every_workflow(pytensor)}
    compare = yaml.safe_load(here["compare.yml"].read_text())
    assert compare["jobs"]["compare"]["permissions"] == {}
    assert "secrets" not in here["compare.yml"].read_text()
    assert set(_triggers(here["compare.yml"])) == {"workflow_call"}
    assert set(_triggers(here["observatory.yml"])) == {"pull_request"}
    assert "secrets" not in here["observatory.yml"].read_text()
    for name in ("comment.yml", "observatory-answers.yml"):
        text = here[name].read_text()
        assert "pull_request_target" not in text
        assert not re.search(r"ref:.*(head|pull_request)", text)
    for job in yaml.safe_load(here["comment.yml"].read_text())["jobs"].values():
        for step in job["steps"]:
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False
                assert "pull" not in str(step["with"].get("ref", ""))


def test_zizmor_has_nothing_to_say(pytensor: Path) -> None:
    generated(pytensor)
    for where in (pytensor, ROOT / WORKFLOWS):
        done = subprocess.run(
            [str(Path(sys.executable).parent / "zizmor"), "--offline", "--quiet", str(where)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="actionlint is not on PATH")
def test_actionlint_has_nothing_to_say(pytensor: Path) -> None:
    generated(pytensor)
    for where in (pytensor, ROOT):
        names = [str(path) for path in sorted((where / WORKFLOWS).glob("*.yml"))]
        assert len(names) > 4  # without a name it looks for a repository, and there is none
        done = subprocess.run(
            ["actionlint", *names], capture_output=True, text=True, check=False, cwd=where
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_command_of_a_workflow_is_one_that_there_is(pytensor: Path) -> None:
    """Options of the commands in YAML are those of the commands: nobody runs them before."""
    commands: Any = get_command(app)
    context = commands.make_context("observatory", [], resilient_parsing=True)
    checked = 0
    for path in every_workflow(pytensor):
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            for step in job.get("steps", ()):
                for found in re.finditer(r"bin/observatory (\w+)([^\n]*)", step.get("run", "")):
                    command = commands.get_command(context, found[1])
                    known = {name for each in command.params for name in each.opts}
                    asked = set(re.findall(r"(?<=\s)--[a-z-]+", found[2]))
                    assert asked <= known, (path, found[0])
                    checked += 1
    assert checked >= 8


def test_what_counts_work_has_installed_what_counts_it(pytensor: Path) -> None:
    counting = []
    for path in every_workflow(pytensor):
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            runs = [step.get("run", "") for step in job.get("steps", ())]
            if any("--only work" in run or "$PASSES" in run for run in runs):
                installed = [place for place, run in enumerate(runs) if "valgrind" in run]
                assert installed, path
                assert "measure" not in " ".join(runs[: installed[0]])
                counting.append(path.name)
    assert sorted(counting) == ["compare.yml", "nightly.yml", "observatory-nightly.yml"]


def test_a_pull_request_is_compared_by_passes_that_there_are(pytensor: Path) -> None:
    here = {path.name: path for path in every_workflow(pytensor)}
    inputs = _triggers(here["compare.yml"])["workflow_call"]["inputs"]
    asked = yaml.safe_load(here["observatory.yml"].read_text())["jobs"]["compare"]["with"]
    assert asked.keys() <= inputs.keys()
    for passes in (asked["passes"], inputs["passes"]["default"]):
        assert passes.split() == ["counting", "work", "tracing"]
        assert set(passes.split()) <= MEASURES.keys()
    assert seconds(asked["budget"]) == seconds(inputs["budget"]["default"]) == 600


def test_every_file_is_for_something(pytensor: Path) -> None:
    chosen = files_for(look(pytensor), this_tool(TOOL[1], COMMIT, ROOT))
    assert all(file.purpose and b"__" not in file.content for file in chosen)
