"""What the observatory can measure in a repository, and the files that set it up.

The repository is read, also with git, but nothing of it is imported or run. The files come from
observatory/templates, whose comments explain each line to a reviewer.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePosixPath

from observatory.run.git import Git
from observatory.store.base.files import read_bounded
from observatory.store.base.problems import RecordError, RecordUsageError

_LARGEST = 4 * 2**20
_FIXTURE = r"def (test|bench)\w*\(.*\bbenchmark\b"
"""A test with the fixture of pytest-benchmark."""
_NUMBA = re.compile(r"numba\b(?!-)", re.IGNORECASE)
_REMOTE = re.compile(r"github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?$")
_REPOSITORY = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SAFE = re.compile(r"[\w.+/-]+")
"""Names that need no quotes in YAML and in commands."""


@dataclass(frozen=True)
class Project:
    """What was found in a repository. Directories are relative to ``root``."""

    root: Path
    name: str
    """The name of the distribution; empty without a pyproject.toml that has one."""
    branch: str
    """The default branch."""
    tests: str | None
    """The directory of tests with pytest-benchmark."""
    asv: str | None
    """The directory of asv.conf.json."""
    asv_results: str | None
    """The directory of asv's results."""
    bounds_numba: bool
    """Whether pyproject.toml requires numba."""

    @property
    def is_pytensor(self) -> bool:
        """Whether the observatory's own benchmarks measure it."""
        return self.name == "pytensor"


@dataclass(frozen=True)
class Tool:
    """The observatory that the workflows use. Raises RecordUsageError if a name is invalid."""

    repository: str
    """OWNER/NAME."""
    commit: str

    def __post_init__(self) -> None:
        if not _REPOSITORY.fullmatch(self.repository):
            raise RecordUsageError(f"{self.repository!r} is not a repository; write OWNER/NAME")
        if not _COMMIT.fullmatch(self.commit):
            raise RecordUsageError(
                f"{self.commit!r} is not a full commit hash; the meaning of a shorter one, a tag "
                "or a branch may change"
            )


@dataclass(frozen=True)
class File:
    """A file to write."""

    path: Path
    """The path within the repository."""
    content: bytes
    purpose: str


def look(directory: Path) -> Project:
    """Read a checkout. Raises RecordError if it is not one, or if a name in it cannot be used."""
    root = Path(Git(directory).text("rev-parse", "--show-toplevel", found=False))
    git = Git(root)
    metadata = _metadata(root / "pyproject.toml")
    requirements = metadata.get("dependencies", [])
    asv, asv_results = _asv(git, root)
    project = Project(
        root=root,
        name=str(metadata.get("name", "")).lower(),
        branch=_default_branch(git),
        tests=_tests(git),
        asv=asv,
        asv_results=asv_results,
        bounds_numba=isinstance(requirements, list)
        and any(_NUMBA.match(str(one)) for one in requirements),
    )
    for text in (project.branch, project.tests, project.asv, project.asv_results):
        if text is not None and not _SAFE.fullmatch(text):
            raise RecordUsageError(f"the name {text!r} cannot be written into a workflow")
    return project


def this_tool(repository: str | None, commit: str | None, home: Path) -> Tool:
    """Return the observatory that is named, or else the one whose checkout is ``home``.

    Raises RecordUsageError.
    """
    if repository is None or commit is None:
        with suppress(RecordError):
            git = Git(home)
            found = _REMOTE.search(git.text("remote", "get-url", "origin"))
            repository = repository or (found[1] if found else None)
            commit = commit or git.text("rev-parse", "HEAD")
    if repository is None or commit is None:
        raise RecordUsageError(
            "it is not known which observatory the workflows should use: this one is not a clone "
            "of a repository on GitHub; add --observatory OWNER/NAME --commit HASH"
        )
    return Tool(repository, commit)


def files_for(project: Project, tool: Tool) -> list[File]:
    """Return the files that a project should get; none if there is nothing to measure."""
    words = {
        "__OBSERVATORY__": tool.repository,
        "__COMMIT__": tool.commit,
        "__BRANCH__": project.branch,
        "__RESULTS_BRANCH__": "observatory-results",
        "__MACHINE__": "github-ubuntu-24.04",
        "__LABEL__": "run-benchmark",
        "__TESTS__": project.tests or "",
        "__INSTALL__": "-e . pytest pytest-benchmark",
        "__ASV__": project.asv or "",
        "__ASV_RESULTS__": project.asv_results or "",
    }
    found = []
    for name, purpose in _wanted(project):
        template = (files("observatory") / "templates" / name).read_text("utf-8")
        content = re.sub(r"__[A-Z_]+__", lambda word: words[word[0]], template)
        path = Path(".github") / ("workflows" if name.endswith(".yml") else "") / name
        found.append(File(path, content.encode(), purpose))
    return found


def _wanted(project: Project) -> Iterator[tuple[str, str]]:
    if project.is_pytensor:
        yield "observatory.yml", "measures a pull request that is labelled, or when asked /observe"
        yield "observatory-answers.yml", "writes the comment and reacts to /observe"
        yield "observatory-nightly.yml", f"measures the commits of {project.branch} every night"
    if project.tests is not None:
        yield "observatory-benchmarks.yml", f"runs {project.tests} after each push"
    if project.asv is not None:
        yield "observatory-asv.yml", f"runs the asv suite of {project.asv} every night"
    if project.bounds_numba and project.is_pytensor:
        yield "observatory-numba-bound.yml", "proposes a newer upper bound of numba every week"
    if project.is_pytensor or project.tests is not None or project.asv is not None:
        yield "observatory.toml", "settings of alerts and comments; every line is the default"


def _default_branch(git: Git) -> str:
    remote = git.run("symbolic-ref", "--short", "refs/remotes/origin/HEAD")
    if remote.returncode == 0:
        return remote.stdout.strip().partition("/")[2]
    for name in ("main", "master"):
        if git.resolved(f"refs/heads/{name}") or git.resolved(f"refs/remotes/origin/{name}"):
            return name
    return git.text("symbolic-ref", "--short", "HEAD")


def _tests(git: Git) -> str | None:
    """The directory with the most files that use pytest-benchmark."""
    found = git.run("grep", "-l", "-E", "--untracked", _FIXTURE, "--", "*.py")
    numbers = Counter(str(PurePosixPath(name).parent) for name in found.stdout.splitlines())
    return max(numbers, key=lambda one: (numbers[one], -len(one)), default=None)


def _asv(git: Git, root: Path) -> tuple[str | None, str | None]:
    """The directories of the asv.conf.json that is nearest to the root, and of its results."""
    name = "asv.conf.json"
    listed = git.text("ls-files", "--cached", "--others", "--exclude-standard", f"*{name}")
    found = [path for path in map(PurePosixPath, listed.splitlines()) if path.name == name]
    if not found:
        return None, None
    from asv.util import load_json  # asv takes a quarter of a second to import

    directory = min(found, key=lambda path: len(path.parts)).parent
    path = root / directory / name
    try:
        results = str(load_json(str(path), js_comments=True).get("results_dir", "results"))
    except Exception as error:  # asv raises errors of its own and those of json5
        raise RecordError(f"{path} cannot be read: {str(error)[:200]}") from error
    where = (root / directory / results).resolve()
    if not where.is_relative_to(root.resolve()):
        raise RecordUsageError(f"{path} keeps results outside of the repository, in {results!r}")
    return str(directory), where.relative_to(root.resolve()).as_posix()


def _metadata(pyproject: Path) -> dict[str, object]:
    """The table ``project`` of a pyproject.toml; empty if there is none."""
    content = read_bounded(pyproject, _LARGEST, "no person wrote that")
    try:
        found = tomllib.loads((content or b"").decode()).get("project", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecordError(f"{pyproject} is not valid TOML: {error}") from error
    return found if isinstance(found, dict) else {}
