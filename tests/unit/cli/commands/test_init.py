from __future__ import annotations

import os
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

from observatory.app.adoption_cost import BUDGET
from observatory.app.session import TIMEOUT
from observatory.benchmarks.catalogue import MEASURES
from observatory.cli.main import app
from observatory.cli.options import seconds
from observatory.github import settings
from observatory.run.adoption import Site, look
from observatory.store.base.problems import RecordError
from tests.acting_expressions import filled

ROOT = Path(__file__).parents[4]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOOL = ("--observatory", "someone/observatory", "--commit", COMMIT)
WORKFLOWS = Path(".github", "workflows")
MAIN, SECOND = "observatory.yml", "observatory-pull-request.yml"
PYTENSOR = '[project]\nname = "pytensor"\ndependencies = ["numba>=0.58,<=0.68", "scipy"]\n'
BENCHMARK = "def test_add(benchmark):\n    benchmark(sum, [1])\n"
ASV = '// a comment\n{"version": 1, "project": "p", "repo": ".", "results_dir": ".asv/results"}\n'


def git(where: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(where), *arguments], check=True, capture_output=True)


def commit(where: Path) -> None:
    git(where, "add", ".")
    git(where, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet",
        "--allow-empty", "-m", "x")  # fmt: skip


def linted(where: Path) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "zizmor"), "--offline", "--quiet", str(where)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def checkout(tmp_path: Path, **contents: str) -> Path:
    """A repository of these files; `__` in a name is a directory."""
    where = tmp_path / "project"
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(where))
    for name, content in contents.items():
        path = where / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    commit(where)
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
    return {path.name for path in (where / ".github").rglob("*.*")}


def jobs(where: Path) -> set[str]:
    return set(yaml.safe_load((where / WORKFLOWS / MAIN).read_text())["jobs"])


def refusal(done: Result) -> str:
    assert isinstance(done.exception, RecordError), done.output
    return str(done.exception)


def test_pytensor_gets_all_in_one_file_and_the_comparison_without_rights_in_another(
    pytensor: Path,
) -> None:
    done = init(pytensor)
    assert done.exit_code == 0, done.output
    assert written(pytensor) == {MAIN, SECOND}
    assert jobs(pytensor) == {
        "asv", "benchmarks", "comment", "commits", "numba-bound", "pages", "publish"
    }  # fmt: skip
    assert "pytest-benchmark in tests/benchmarks" in done.output
    assert f"{WORKFLOWS}/{MAIN}: written" in done.output
    assert "min a night" in done.output


def test_a_project_with_pytest_benchmark_gets_one_file(tmp_path: Path) -> None:
    where = checkout(tmp_path, bench__test_x_DOT_py=BENCHMARK)
    init(where)
    assert written(where) == {MAIN}
    assert jobs(where) == {"benchmarks", "publish", "pages"}
    loaded = yaml.safe_load((where / WORKFLOWS / MAIN).read_text())
    assert loaded["jobs"]["benchmarks"]["with"]["tests"] == "bench"
    assert loaded[True]["push"] == {"branches": ["main"]}
    assert "schedule" not in loaded[True]


def test_a_project_with_asv_is_measured_as_it_is(tmp_path: Path) -> None:
    where = checkout(tmp_path, asv_bench__asv_DOT_conf_DOT_json=ASV)
    init(where)
    asked = yaml.safe_load((where / WORKFLOWS / MAIN).read_text())["jobs"]["asv"]["with"]
    assert (asked["suite"], asked["suite-results"]) == ("asv_bench", "asv_bench/.asv/results")


@pytest.mark.parametrize(
    ("only", "files", "asked"),
    [
        (["compare"], {MAIN, SECOND}, {"comment"}),
        (["nightly"], {MAIN}, {"commits", "publish", "pages"}),
        (["numba-bound"], {MAIN}, {"numba-bound"}),
        (["nightly,numba-bound"], {MAIN}, {"commits", "publish", "pages", "numba-bound"}),
        (["benchmarks", "compare"], {MAIN, SECOND},
         {"benchmarks", "asv", "publish", "pages", "comment"}),
    ],
)  # fmt: skip
def test_only_some_parts(pytensor: Path, only: list[str], files: set[str], asked: set[str]) -> None:
    done = init(pytensor, *(word for one in only for word in ("--only", one)))
    assert done.exit_code == 0, done.output
    assert written(pytensor) == files
    assert jobs(pytensor) == asked
    linted(pytensor)


def test_results_in_an_object_store_stay_there_when_the_files_are_updated(pytensor: Path) -> None:
    done = init(pytensor, "--store", "s3://bucket/nights")
    assert done.exit_code == 0, done.output
    linted(pytensor)

    def told() -> dict[str, Any]:
        found = yaml.safe_load((pytensor / WORKFLOWS / MAIN).read_text())["jobs"]
        return {name: job["with"].get("to") for name, job in found.items() if "with" in job}

    everywhere = ("commits", "benchmarks", "asv", "publish")
    assert told() == dict.fromkeys(everywhere, "s3://bucket/nights")
    assert "OBSERVATORY_STORE_SECRET, which may read and write s3://bucket/nights" in done.output
    commit(pytensor)
    assert "up to date" in init(pytensor).output
    path = pytensor / WORKFLOWS / MAIN
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    commit(pytensor)
    assert "up to date" in init(pytensor).output
    assert init(pytensor, "--store", "").exit_code == 0
    assert not any(told().values())


@pytest.mark.parametrize("address", ["bucket", "gs://bucket/x", "s3://b/x y", "s3://b/${{ x }}"])
def test_an_address_that_is_none_of_s3_is_refused(pytensor: Path, address: str) -> None:
    done = init(pytensor, "--store", address)
    assert "write s3://BUCKET/PREFIX" in str(done.exception)
    assert not (pytensor / WORKFLOWS).exists()


def test_a_bound_that_is_raised_already_is_left_alone(pytensor: Path) -> None:
    theirs = pytensor / WORKFLOWS / "bump.yml"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("name: Bump numba upper bound\non: push\njobs: {}\n")
    done = init(pytensor)
    assert "numba-bound" not in jobs(pytensor)
    weekly = "23 5 * * 1"
    assert weekly not in (pytensor / WORKFLOWS / MAIN).read_text()
    assert "numba-bound: left out, because .github/workflows/bump.yml raises" in done.output
    init(pytensor, "--only", "nightly,numba-bound", "--force")
    assert "numba-bound" in jobs(pytensor)
    assert f"schedule != '{weekly}'" in (pytensor / WORKFLOWS / MAIN).read_text()


@pytest.mark.parametrize(
    ("theirs", "pages", "said"),
    [
        ("- uses: actions/deploy-pages@v4", "observatory-pages", "on the branch observatory-pages"),
        (
            "- run: mkdocs gh-deploy",
            "gh-pages:observatory",
            "below observatory/ on the branch gh-pages",
        ),
    ],
)
def test_another_site_stays_as_it_is(pytensor: Path, theirs: str, pages: str, said: str) -> None:
    git(pytensor, "remote", "add", "origin", "git@github.com:Some-One/pytensor.git")
    path = pytensor / WORKFLOWS / "docs.yml"
    path.parent.mkdir(parents=True)
    path.write_text(f"jobs: {{a: {{steps: [\n{theirs}\n]}}}}\n".replace("- ", ""))
    done = init(pytensor)
    assert "pages" not in jobs(pytensor)
    asked = yaml.safe_load((pytensor / WORKFLOWS / MAIN).read_text())["jobs"]["publish"]["with"]
    assert asked["pages"] == pages
    assert asked.get("link") == ("https://some-one.github.io/pytensor/observatory/"
                                 if ":" in pages else None)  # fmt: skip
    assert said in done.output
    assert "docs.yml publishes a site on GitHub Pages. It stays as it is" in done.output
    linted(pytensor)


def test_a_branch_of_pages_is_a_site(pytensor: Path) -> None:
    git(pytensor, "branch", "gh-pages")
    assert look(pytensor).site == Site("gh-pages", "the branch gh-pages")


def test_a_subdirectory_means_its_repository(pytensor: Path) -> None:
    init(pytensor / "tests")
    assert (pytensor / WORKFLOWS / MAIN).exists()
    assert not (pytensor / "tests" / ".github").exists()


def test_the_default_branch_is_that_of_the_remote(tmp_path: Path) -> None:
    where = checkout(tmp_path, bench__test_x_DOT_py=BENCHMARK)
    git(where, "branch", "--move", "trunk")
    git(tmp_path, "clone", "--quiet", str(where), "clone")
    git(tmp_path / "clone", "checkout", "--quiet", "-b", "main")
    assert look(tmp_path / "clone").branch == "trunk"


def test_what_others_wrote_is_refused_and_nothing_is_written(pytensor: Path) -> None:
    mine = pytensor / WORKFLOWS / MAIN
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    assert "exists and was not written by `observatory init`. Nothing was written." in refusal(
        init(pytensor)
    )
    assert mine.read_text() == "mine"
    assert written(pytensor) == {MAIN}


def test_force_keeps_what_was_there_under_a_name_that_is_no_workflow(pytensor: Path) -> None:
    mine = pytensor / WORKFLOWS / MAIN
    mine.parent.mkdir(parents=True)
    for text in ("first", "second"):
        mine.write_text(text)
        done = init(pytensor, "--force")
    assert mine.read_text().startswith("# Written by `observatory init`")
    assert mine.with_name(f"{MAIN}.bak").read_text() == "first"
    assert mine.with_name(f"{MAIN}.bak1").read_text() == "second"
    assert f"lines; the old content is in {MAIN}.bak1" in done.output


def test_a_file_of_an_earlier_version_is_updated(pytensor: Path) -> None:
    init(pytensor)
    commit(pytensor)
    path = pytensor / WORKFLOWS / MAIN
    before = path.read_text()
    newer = ("--observatory", "someone/observatory", "--commit", "f" * 40)
    done = CliRunner().invoke(app, ["init", str(pytensor), *newer])
    assert f"{MAIN}: updated" in done.output
    assert path.read_text() == before.replace(COMMIT, "f" * 40)
    assert written(pytensor) == {MAIN, SECOND}


def test_a_second_time_says_that_all_is_there(pytensor: Path) -> None:
    init(pytensor)
    assert init(pytensor).output.count(": up to date") == 2


def test_changes_that_are_not_committed_are_not_lost(pytensor: Path) -> None:
    init(pytensor)
    commit(pytensor)
    path = pytensor / WORKFLOWS / MAIN
    path.write_text(path.read_text().replace("most: 8", "most: 3"))
    assert f"{MAIN} has changes that are not committed." in refusal(init(pytensor))
    init(pytensor, "--force")
    assert "most: 3" in path.with_name(f"{MAIN}.bak").read_text()


def test_other_changes_of_the_checkout_are_left_to_the_person(pytensor: Path) -> None:
    (pytensor / "pyproject.toml").write_text(PYTENSOR + "\n")
    done = init(pytensor)
    assert f"add these alone: {WORKFLOWS}/{MAIN} {WORKFLOWS}/{SECOND}" in done.output


YOURS = "-e ./pkg pytest pytest-benchmark numba"


@pytest.mark.parametrize(
    "theirs", [f" {YOURS}", f" >-\n        -e ./pkg\n        {YOURS}"], ids=["a line", "a block"]
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_lines_that_are_yours_stay_when_the_file_is_updated(
    pytensor: Path, theirs: str, ends: str
) -> None:
    init(pytensor)
    path = pytensor / WORKFLOWS / MAIN
    first = path.read_text()
    assert "      install: -e . pytest pytest-benchmark\n" in first
    changed = first.replace(" -e . pytest pytest-benchmark", theirs)
    older = changed.replace("most: 8", "most: 7").replace("\n", ends)
    path.write_bytes(older.encode())
    commit(pytensor)
    assert f"{MAIN}: updated" in init(pytensor).output
    assert path.read_bytes() == changed.replace("\n", ends).encode()


def test_windows_line_ends_stay(pytensor: Path) -> None:
    theirs = pytensor / WORKFLOWS / "test.yml"
    theirs.parent.mkdir(parents=True)
    theirs.write_bytes(b"on: push\r\njobs: {}\r\n")
    init(pytensor)
    for name in (MAIN, SECOND):
        content = (pytensor / WORKFLOWS / name).read_bytes()
        assert content.count(b"\n") == content.count(b"\r\n") > 10
    assert init(pytensor).output.count(": up to date") == 2


def test_a_dry_run_prints_a_diff_and_writes_nothing(pytensor: Path) -> None:
    done = init(pytensor, "--dry-run")
    assert "--- /dev/null" in done.output
    assert f"+++ b/{WORKFLOWS}/{MAIN}" in done.output
    assert f"compare.yml@{COMMIT}" in done.output
    assert not (pytensor / ".github").exists()
    init(pytensor)
    commit(pytensor)
    newer = ("--observatory", "someone/observatory", "--commit", "f" * 40)
    done = CliRunner().invoke(app, ["init", str(pytensor), *newer, "--dry-run"])
    assert f"--- a/{WORKFLOWS}/{MAIN}" in done.output
    assert sum(line.startswith("-    uses: ") for line in done.output.splitlines()) == 8


def test_what_an_earlier_version_wrote_is_named(pytensor: Path) -> None:
    old = pytensor / WORKFLOWS / "observatory-nightly.yml"
    old.parent.mkdir(parents=True)
    old.write_text(f"jobs: {{a: {{\nuses: a/b/.github/workflows/publish.yml@{COMMIT}\n}}}}\n")
    done = init(pytensor)
    assert f"delete what an earlier version wrote: {WORKFLOWS}/{old.name}" in done.output


@pytest.mark.parametrize(
    ("contents", "arguments", "said"),
    [
        ({"x_DOT_py": "def test_x(): ..."}, TOOL, "add benchmarks first"),
        ({"tests__a_DOT_py": BENCHMARK}, (*TOOL[:3], "main"), "is not a full commit hash"),
        ({"tests__a_DOT_py": BENCHMARK}, ("--observatory", "x", *TOOL[2:]), "is not a repository"),
        ({"pyproject_DOT_toml": "[", "tests__a_DOT_py": BENCHMARK}, TOOL, "is not valid TOML"),
        ({"a b__a_DOT_py": BENCHMARK}, TOOL, "cannot be written into a workflow"),
        ({"asv_DOT_conf_DOT_json": "{"}, TOOL, "cannot be read"),
        ({"asv_DOT_conf_DOT_json": '{"results_dir": "../x"}'}, TOOL, "outside of the repository"),
        ({"tests__a_DOT_py": BENCHMARK}, (*TOOL, "--only", "compare"),
         "--only compare is impossible: the project is not PyTensor"),
    ],
)  # fmt: skip
def test_a_mistake_is_a_sentence(
    tmp_path: Path, contents: dict[str, str], arguments: tuple[str, ...], said: str
) -> None:
    done = CliRunner().invoke(app, ["init", str(checkout(tmp_path, **contents)), *arguments])
    assert said in refusal(done)
    assert not (tmp_path / "project" / ".github").exists()


def test_an_unknown_part_is_named(pytensor: Path) -> None:
    done = init(pytensor, "--only", "nightly,weekly")
    assert "'weekly'" in str(done.exception)


def test_what_is_no_repository_is_said(tmp_path: Path) -> None:
    done = init(tmp_path)
    said = f"{tmp_path} is not a git repository: give the path of a clone"
    assert str(done.exception) == said


def test_what_github_turns_off_in_a_fork_is_said(pytensor: Path) -> None:
    (line,) = (one for one in init(pytensor).output.splitlines() if "if this is a fork" in one)
    for word in ("enable Actions", "scheduled workflow", "Issues in Settings"):
        assert word in line


def test_all_lines_name_one_version_of_one_repository(pytensor: Path) -> None:
    """Dependabot and Renovate take OWNER/NAME for the dependency, whatever the path after it."""
    init(pytensor)
    texts = [path.read_text() for path in (pytensor / WORKFLOWS).glob("*.yml")]
    found = re.findall(
        r"uses: ([\w-]+/[\w-]+)/\.github/workflows/[\w-]+\.yml@(\S+)", "".join(texts)
    )
    assert len(found) == 8
    assert set(found) == {(TOOL[1], COMMIT)}
    assert COMMIT not in re.sub(r"uses: .*", "", "".join(texts))


def every_workflow(pytensor: Path) -> list[Path]:
    init(pytensor)
    return [
        path for where in (pytensor, ROOT) for path in sorted((where / WORKFLOWS).glob("*.yml"))
    ]


ACTIONS = sorted((ROOT / ".github" / "actions").glob("*/action.yml"))


def test_every_workflow_has_no_rights_but_those_that_a_job_names(pytensor: Path) -> None:
    for path in every_workflow(pytensor):
        loaded = yaml.safe_load(path.read_text())
        assert loaded["permissions"] == {}, path
        for name, job in loaded["jobs"].items():
            assert "permissions" in job, (path, name)


def test_every_action_and_workflow_is_pinned_by_its_full_hash(pytensor: Path) -> None:
    assert len(ACTIONS) >= 2
    for path in (*every_workflow(pytensor), *ACTIONS):
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
            # GitHub ends a job after 360 minutes.
            assert "uses" in job or job["timeout-minutes"] <= 345, (path, name)
            for step in job.get("steps", ()):
                assert "${{" not in step.get("run", ""), (path, name)
    for path in ACTIONS:
        for step in yaml.safe_load(path.read_text())["runs"]["steps"]:
            assert "${{" not in step.get("run", ""), path


def test_every_action_of_ours_is_there_when_its_step_begins(pytensor: Path) -> None:
    """GitHub looks for it in the workspace: where the job has checked out the observatory."""
    used = 0
    for path in every_workflow(pytensor):
        for name, job in yaml.safe_load(path.read_text())["jobs"].items():
            places: dict[str, Any] = {}
            for step in job.get("steps", ()):
                uses, given = step.get("uses", ""), step.get("with", {})
                if "actions/checkout@" in uses:
                    ours = given.get("repository") == "${{ job.workflow_repository }}"
                    if ours or (path.name == "nightly.yml" and "path" not in given):
                        places[given.get("path", "")] = step.get("if")
                if uses.startswith("./"):
                    where, _, own = uses.removeprefix("./").rpartition(".github/actions/")
                    assert places[where.rstrip("/")] in (None, step.get("if")), (path, name)
                    action = yaml.safe_load(
                        (ROOT / ".github" / "actions" / own / "action.yml").read_text()
                    )
                    assert given.keys() <= action.get("inputs", {}).keys(), (path, name)
                    used += 1
    assert used >= 20


_MEASURES = re.compile(r"bin/observatory nightly|asv run|benchmark_commits|compare_pull_request")


def test_a_measurement_ends_before_its_job_does_and_what_it_took_is_kept(pytensor: Path) -> None:
    """GitHub cancels a job at its limit, and then carries out only what is always carried out."""
    measuring = []
    for path in every_workflow(pytensor):
        for name, job in yaml.safe_load(path.read_text())["jobs"].items():
            steps = job.get("steps", ())
            kept = [one for one in steps if "upload-artifact@" in one.get("uses", "")
                    and re.match("shard-|observatory-samples", one["with"]["name"])]  # fmt: skip
            if kept:
                limits = [one["timeout-minutes"] for one in steps
                          if _MEASURES.search(one.get("run", ""))]  # fmt: skip
                assert 0 < sum(limits) <= job["timeout-minutes"] - 15, (path, name)
                assert [one["if"] for one in kept] == ["${{ always() }}"], (path, name)
                measuring.append(name)
    assert len(measuring) >= 12


def test_a_job_that_explores_has_what_exploring_needs() -> None:
    loaded = yaml.safe_load((ROOT / WORKFLOWS / "nightly.yml").read_text())
    exploring = [
        job["steps"] for job in loaded["jobs"].values()
        if any("--only explore" in step.get("run", "") for step in job.get("steps", ()))
    ]  # fmt: skip
    assert len(exploring) == 1
    (tool,) = (one for one in exploring[0] if one.get("uses", "").endswith("/actions/tool"))
    assert tool["with"]["extras"] == "explore"


def test_every_night_that_asks_the_canary_also_crosses_settings(pytensor: Path) -> None:
    asking = [
        step["run"] for path in every_workflow(pytensor)
        for job in yaml.safe_load(path.read_text())["jobs"].values()
        for step in job.get("steps", ()) if "--only canary" in step.get("run", "")
    ]  # fmt: skip
    assert len(asking) == 2
    assert all("--settings" in run for run in asking)


def test_a_night_has_time_for_all_of_its_commits_also_if_each_of_them_hangs() -> None:
    loaded = yaml.safe_load((ROOT / WORKFLOWS / "commits.yml").read_text())
    most = loaded[True]["workflow_call"]["inputs"]["most"]["default"]
    (step,) = (one for one in loaded["jobs"]["measure"]["steps"] if "--shard" in one.get("run", ""))
    budget = re.search(r"--measure-budget (\w+)", step["run"])
    assert budget is not None
    # The sample that has begun still ends.
    assert most * (seconds(budget[1]) + TIMEOUT) < 60 * step["timeout-minutes"]
    steps = loaded["jobs"]["check"]["steps"]
    (step,) = (one for one in steps if "--only work" in one.get("run", ""))
    budget = re.search(r"--work-budget (\w+)", step["run"])
    assert budget is not None
    assert most * (seconds(budget[1]) + TIMEOUT) < 60 * step["timeout-minutes"]
    loaded = yaml.safe_load((ROOT / WORKFLOWS / "benchmarks.yml").read_text())
    (step,) = (one for one in loaded["jobs"]["measure"]["steps"] if "--tests" in one.get("run", ""))
    budget = re.search(r"--budget (\w+)", step["run"])
    assert budget is not None
    assert seconds(budget[1]) < 60 * step["timeout-minutes"]


def _triggers(path: Path) -> Any:
    return yaml.safe_load(path.read_text())[True]  # what YAML makes of `on`


def test_what_runs_a_pull_request_has_no_right_and_what_has_rights_runs_none(
    pytensor: Path,
) -> None:
    here = {path.name: path for path in every_workflow(pytensor)}
    compare = yaml.safe_load(here["compare.yml"].read_text())
    assert compare["jobs"]["compare"]["permissions"] == {}
    assert set(_triggers(here["compare.yml"])) == {"workflow_call"}
    second = yaml.safe_load(here[SECOND].read_text())
    assert second["jobs"]["compare"]["permissions"] == {}
    assert _triggers(here[SECOND]) == {"pull_request": {"types": ["labeled"]}}
    for name in ("compare.yml", SECOND, MAIN):
        assert "secrets" not in here[name].read_text()
    # What pull requests write must not reach the cache that nights restore.
    assert "/actions/packages\n" in here["compare.yml"].read_text()
    for path in (here["compare.yml"], *ACTIONS):
        assert not re.search(r"actions/cache(/save)?@", path.read_text())
    for name in ("comment.yml", MAIN):
        text = here[name].read_text()
        assert "pull_request_target" not in text
        assert not re.search(r"ref:.*(head|pull_request)", text)
        assert "pull_request" not in _triggers(here[name])
    for job in yaml.safe_load(here["comment.yml"].read_text())["jobs"].values():
        for step in job["steps"]:
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False
                assert "pull" not in str(step["with"].get("ref", ""))


_OF_OTHERS = re.compile(
    r"--judge|nightly(?! --only alerts --only site --only feed)|asv run|pip install|"
    r"benchmark_commits|compare_pull_request|canary|pytest"
)
"""What runs code of a project, of a pull request, or of a release that nobody has read."""


def test_no_job_with_credentials_runs_code_of_others(pytensor: Path) -> None:
    """Whatever runs in a job can read the credentials of all of its steps."""
    jobs = [
        (path.name, name, job)
        for path in every_workflow(pytensor)
        for name, job in yaml.safe_load(path.read_text())["jobs"].items()
        if "uses" not in job
    ]
    holding = {
        f"{file} {name}": " ".join(step.get("run", "") for step in job["steps"])
        for file, name, job in jobs
        if "secrets." in str(job["steps"]) or "write" in str(job.get("permissions"))
    }
    assert {"plan.yml plan", "numba-upper-bound.yml propose"} <= set(holding)
    assert [name for name, run in holding.items() if _OF_OTHERS.search(run)] == []


def test_no_job_with_rights_restores_a_cache(pytensor: Path) -> None:
    """Whoever could save one in another job could run code with these rights."""
    restoring = {
        f"{path.name} {name}": job.get("permissions")
        for path in every_workflow(pytensor)
        for name, job in yaml.safe_load(path.read_text())["jobs"].items()
        if any(re.search(r"actions/cache(/restore)?@|/actions/packages$", step.get("uses", ""))
               for step in job.get("steps", ()))
    }  # fmt: skip
    assert len(restoring) >= 6
    assert all(rights in ({}, {"contents": "read"}) for rights in restoring.values()), restoring


def test_no_two_jobs_of_one_run_give_an_artifact_the_same_name(pytensor: Path) -> None:
    """One file calls these workflows, and GitHub refuses the second artifact of a name."""
    called = ("commits.yml", "benchmarks.yml", "asv.yml", "numba-upper-bound.yml", "publish.yml")
    jobs = [
        job
        for path in every_workflow(pytensor) if path.name in called
        for job in yaml.safe_load(path.read_text())["jobs"].values()
    ]  # fmt: skip
    # `plan.yml` is called by several of them, and each says the name.
    names = [job["with"]["copy"] for job in jobs if job.get("uses", "").endswith("/plan.yml")]
    assert len(names) == 3
    names += [
        step["with"]["name"]
        for job in jobs
        for step in job.get("steps", ()) if "upload-artifact" in step.get("uses", "")
    ]  # fmt: skip
    assert len(names) >= 9
    assert len(names) == len(set(names))


def test_a_second_attempt_replaces_what_the_first_one_kept(pytensor: Path) -> None:
    """GitHub refuses an artifact of a name that an earlier attempt of the run has used."""
    for path in every_workflow(pytensor):
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            for step in job.get("steps", ()):
                if "/upload-artifact@" in step.get("uses", ""):
                    assert step["with"].get("overwrite") is True, (path.name, step["with"])


def test_no_run_is_started_for_each_comment(pytensor: Path) -> None:
    for path in every_workflow(pytensor):
        assert "issue_comment" not in _triggers(path), path


def test_no_workflow_listens_to_itself(pytensor: Path) -> None:
    """GitHub refuses such a file: "Workflow ... cannot listen to itself"."""
    init(pytensor)
    loaded = [yaml.safe_load((pytensor / WORKFLOWS / name).read_text()) for name in (MAIN, SECOND)]
    assert loaded[0][True]["workflow_run"]["workflows"] == [loaded[1]["name"]]
    assert loaded[0]["name"] != loaded[1]["name"]


def test_a_run_that_measures_waits_for_the_results_of_the_one_before_and_is_not_cancelled(
    pytensor: Path,
) -> None:
    waiting = []
    for path in every_workflow(pytensor):
        loaded = yaml.safe_load(path.read_text())
        for name, one in {"": loaded, **loaded["jobs"]}.items():
            if one.get("concurrency", {}).get("queue") == "max":
                assert "cancel-in-progress" not in one["concurrency"]
                waiting.append(f"{path.name} {name}".rstrip())
    # The whole run: if only the job that measures waited, the next would not see its results.
    assert waiting == [MAIN, "publish.yml publish"]
    group = yaml.safe_load((pytensor / WORKFLOWS / MAIN).read_text())["concurrency"]["group"]

    def of(event: str, run: str) -> str:
        return str(filled(group, {"github": {"event_name": event, "run_id": run}}, {}))

    assert of("schedule", "1") == of("push", "2") == of("workflow_dispatch", "3")
    assert len({of("push", "1"), of("workflow_run", "2"), of("workflow_run", "3")}) == 3


def test_every_job_that_may_count_instructions_installs_what_counts_them(pytensor: Path) -> None:
    counting = re.compile(r"--only (work|search)\b|compare_pull_request")
    found = []
    for path in every_workflow(pytensor):
        for name, job in yaml.safe_load(path.read_text())["jobs"].items():
            runs = [step.get("run", "") for step in job.get("steps", ())]
            if first := next((at for at, run in enumerate(runs) if counting.search(run)), None):
                found.append(f"{path.name} {name}")
                assert any("valgrind" in run for run in runs[:first]), found[-1]
    assert found == [
        "commits.yml check", "commits.yml search", "compare.yml compare", "nightly.yml work",
    ]  # fmt: skip


def stepped(step: Any, place: Path, name: str, body: str) -> tuple[int, str]:
    """Act a step's command as GitHub does, with a program in place of another; status, output."""
    program = place / name
    program.write_text(f'#!/bin/bash\necho "$*" >> {place}/asked\n{body}\n')
    program.chmod(0o755)
    output = place / "output"
    output.write_text("")
    done = subprocess.run(
        ["/bin/bash", "-e", "-c", step["run"]], cwd=place, check=False, capture_output=True,
        env={**os.environ, "PATH": f"{place}:{os.environ['PATH']}", "GITHUB_OUTPUT": str(output),
             "BRANCH": "kept", "GITHUB_REF_NAME": "v1.2.3"},
    )  # fmt: skip
    return done.returncode, output.read_text()


def test_a_remote_that_does_not_answer_ends_the_job_and_is_not_taken_for_one_without_results(
    pytensor: Path, tmp_path: Path
) -> None:
    steps = [
        step
        for path in every_workflow(pytensor)
        for job in yaml.safe_load(path.read_text())["jobs"].values()
        for step in job.get("steps", ()) if "ls-remote" in step.get("run", "")
    ]  # fmt: skip
    assert len(steps) >= 2
    for step in steps:
        known = '[ "$1" = ls-remote ] || { echo 0123; exit; }\n'
        assert stepped(step, tmp_path, "git", f"{known}exit 128")[0] == 128
        status, said = stepped(step, tmp_path, "git", f"{known}printf 'abc\\trefs/heads/x\\n'")
        assert (status, said.splitlines()[-1].partition("=")[2]) == (0, "abc")
        status, said = stepped(step, tmp_path, "git", known)
        assert (status, said.splitlines()[-1].partition("=")[2]) == (0, "")


def test_a_release_that_ended_halfway_is_finished_by_running_its_job_again(tmp_path: Path) -> None:
    steps = yaml.safe_load((ROOT / WORKFLOWS / "release.yml").read_text())["jobs"]["publish"][
        "steps"
    ]
    (upload,) = (one for one in steps if "gh-action-pypi-publish" in one.get("uses", ""))
    assert upload["with"]["skip-existing"] is True
    (create,) = (one for one in steps if "gh release" in one.get("run", ""))
    assert stepped(create, tmp_path, "gh", '[ "$2" = create ]')[0] == 0
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [line.split()[:3] for line in asked] == [
        ["release", "view", "v1.2.3"], ["release", "create", "v1.2.3"]
    ]  # fmt: skip
    assert stepped(create, tmp_path, "gh", '[ "$2" = view ]')[0] == 0


def test_zizmor_has_nothing_to_say(pytensor: Path) -> None:
    init(pytensor)
    linted(pytensor)
    linted(ROOT / ".github")


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="actionlint is not on PATH")
def test_actionlint_has_nothing_to_say(pytensor: Path) -> None:
    init(pytensor)
    for where in (pytensor, ROOT):
        names = [str(path) for path in sorted((where / WORKFLOWS).glob("*.yml"))]
        assert len(names) > 1  # without a name it looks for a repository, and there is none
        # It does not know `queue` yet, and a project has no settings that tell it so.
        done = subprocess.run(
            ["actionlint", "-ignore", 'unexpected key "queue"', *names],
            capture_output=True,
            text=True,
            check=False,
            cwd=where,
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
    assert sorted(counting) == ["commits.yml", "compare.yml", "nightly.yml"]


def test_a_pull_request_is_compared_by_passes_that_there_are(pytensor: Path) -> None:
    here = {path.name: path for path in every_workflow(pytensor)}
    inputs = _triggers(here["compare.yml"])["workflow_call"]["inputs"]
    asked = yaml.safe_load(here[SECOND].read_text())["jobs"]["compare"]["with"]
    passes = inputs["passes"]["default"]
    assert passes.split() == ["counting", "work", "tracing"]
    assert set(passes.split()) <= MEASURES.keys()
    assert seconds(asked["budget"]) == seconds(inputs["budget"]["default"]) == BUDGET
    assert asked["label"] == inputs["label"]["default"] == settings.Settings().comment.label


def test_every_call_gives_inputs_that_there_are_and_asks_for_outputs_that_there_are(
    pytensor: Path,
) -> None:
    here = {path.name: path for path in every_workflow(pytensor)}
    called = 0
    for caller in here.values():
        for name, job in yaml.safe_load(caller.read_text())["jobs"].items():
            if "uses" not in job:
                continue
            path = here[job["uses"].partition("@")[0].rpartition("/")[2]]
            told = _triggers(path)["workflow_call"] or {}
            declared = told.get("inputs", {})
            required = {key for key, one in declared.items() if one.get("required")}
            assert required <= set(job.get("with", {})) <= declared.keys(), job
            asked = re.findall(rf"needs\.{name}\.outputs\.(\w+)", caller.read_text())
            assert {*asked} <= told.get("outputs", {}).keys(), (caller, name)
            called += 1
    assert called == 13
