"""What a repository has that the observatory can show, and the files that make it do so.

Looking is by git and by reading: nothing of the repository is imported or run. What is written
comes from observatory/templates, whose comments explain each line to whoever reviews them.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePosixPath

from observatory.run.git import Git
from observatory.store.base.files import read_bounded
from observatory.store.base.problems import RecordError, RecordUsageError

MACHINE = "github-ubuntu-24.04"
RESULTS_BRANCH = "observatory-results"
LABEL = "run-benchmark"
_LARGEST = 4 * 2**20
_FIXTURE = r"def (test|bench)\w*\(.*\bbenchmark\b"
"""A test that takes pytest-benchmark's fixture."""
_NUMBA = re.compile(r"numba\b(?!-)", re.IGNORECASE)
_REMOTE = re.compile(r"github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?$")
_REPOSITORY = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SAFE = re.compile(r"[\w.+/-]+")
"""Names that go into YAML and into commands as they are."""


@dataclass(frozen=True)
class Project:
    """What was found in a repository."""

    root: Path
    name: str
    """Of the distribution; empty where no pyproject.toml says it."""
    branch: str
    """The one that pull requests go to."""
    tests: str | None
    """Directory of tests with pytest-benchmark."""
    asv: str | None
    """Directory of asv.conf.json."""
    asv_results: str | None
    """Where asv keeps its results; within the repository."""
    bounds_numba: bool
    """Whether pyproject.toml names numba."""

    @property
    def is_pytensor(self) -> bool:
        """Whether the observatory's own benchmarks are about it."""
        return self.name == "pytensor"


@dataclass(frozen=True)
class Tool:
    """Which observatory the workflows take."""

    repository: str
    """OWNER/NAME."""
    commit: str

    def __post_init__(self) -> None:
        if not _REPOSITORY.fullmatch(self.repository):
            raise RecordUsageError(f"{self.repository!r} is not a repository; write OWNER/NAME")
        if not _COMMIT.fullmatch(self.commit):
            raise RecordUsageError(
                f"{self.commit!r} is not a full commit hash; a shorter one, a tag or a branch "
                "may come to mean something else"
            )


@dataclass(frozen=True)
class File:
    """A file to write, and what it is for."""

    path: Path
    """Within the repository."""
    content: bytes
    purpose: str


def look(directory: Path) -> Project:
    """Look at a checkout. Raises RecordError where it is none, or a name cannot be used."""
    root = Path(Git(directory).text("rev-parse", "--show-toplevel", found=False))
    git = Git(root)
    pyproject = _pyproject(root / "pyproject.toml")
    asv = _asv(git)
    project = Project(
        root=root,
        name=str(pyproject.get("project", {}).get("name", "")).lower(),
        branch=_default_branch(git),
        tests=_tests(git),
        asv=asv,
        asv_results=None if asv is None else _asv_results(root, asv),
        bounds_numba=any(_NUMBA.match(one) for one in _requirements(pyproject)),
    )
    for text in (project.branch, project.tests, project.asv, project.asv_results):
        if text is not None and not _SAFE.fullmatch(text):
            raise RecordUsageError(f"the name {text!r} cannot be written into a workflow")
    return project


def this_tool(repository: str | None, commit: str | None, home: Path) -> Tool:
    """The observatory that is named, or the one in whose checkout this runs. Raises RecordError."""
    if repository is None or commit is None:
        try:
            git = Git(home)
            found = _REMOTE.search(git.text("remote", "get-url", "origin"))
            repository = repository or (found[1] if found else None)
            commit = commit or git.text("rev-parse", "HEAD")
        except RecordError:
            pass
    if repository is None or commit is None:
        raise RecordUsageError(
            "it is not known which observatory the workflows should take: this one is no clone of "
            "a repository on GitHub; say --observatory OWNER/NAME --commit HASH"
        )
    return Tool(repository, commit)


def files_for(project: Project, tool: Tool) -> list[File]:
    """Every file that the project should get; none where there is nothing to show."""
    words = {
        "__OBSERVATORY__": tool.repository,
        "__COMMIT__": tool.commit,
        "__BRANCH__": project.branch,
        "__RESULTS_BRANCH__": RESULTS_BRANCH,
        "__MACHINE__": MACHINE,
        "__LABEL__": LABEL,
        "__TESTS__": project.tests or "",
        "__INSTALL__": "-e . pytest pytest-benchmark",
        "__ASV__": project.asv or "",
        "__ASV_RESULTS__": project.asv_results or "",
    }
    return [File(_place(name), _filled(name, words), purpose) for name, purpose in _wanted(project)]


def _wanted(project: Project) -> Iterator[tuple[str, str]]:
    if project.is_pytensor:
        yield "observatory.yml", "measures a pull request that is labelled, or when asked /observe"
        yield "observatory-answers.yml", "writes the comment; hears /observe"
        yield "observatory-nightly.yml", f"measures the commits of {project.branch} every night"
    if project.tests is not None:
        yield "observatory-benchmarks.yml", f"runs {project.tests} after each push"
    if project.asv is not None:
        yield "observatory-asv.yml", f"runs the asv suite of {project.asv} every night"
    if project.bounds_numba and project.is_pytensor:
        yield "observatory-numba-bound.yml", "proposes a newer upper bound of numba every week"
    if project.is_pytensor or project.tests is not None or project.asv is not None:
        yield "observatory.toml", "how it tells what it finds; every line is the default"


def _place(name: str) -> Path:
    return Path(".github") / ("workflows" if name.endswith(".yml") else "") / name


def _filled(name: str, words: dict[str, str]) -> bytes:
    text = (files("observatory") / "templates" / name).read_text("utf-8")
    return re.sub(r"__[A-Z_]+__", lambda found: words[found[0]], text).encode()


def _default_branch(git: Git) -> str:
    remote = git.run("symbolic-ref", "--short", "refs/remotes/origin/HEAD")
    if remote.returncode == 0:
        return remote.stdout.strip().partition("/")[2]
    for name in ("main", "master"):
        if git.resolved(f"refs/heads/{name}") or git.resolved(f"refs/remotes/origin/{name}"):
            return name
    return git.text("symbolic-ref", "--short", "HEAD")


def _tests(git: Git) -> str | None:
    """The directory with most files that use pytest-benchmark."""
    found = git.run("grep", "-l", "-E", "--untracked", _FIXTURE, "--", "*.py")
    places = Counter(str(PurePosixPath(name).parent) for name in found.stdout.splitlines())
    return max(places, key=lambda one: (places[one], -len(one)), default=None)


def _asv(git: Git) -> str | None:
    names = git.text("ls-files", "--cached", "--others", "--exclude-standard",
                     "*asv.conf.json").splitlines()  # fmt: skip
    found = [PurePosixPath(name) for name in names if PurePosixPath(name).name == "asv.conf.json"]
    return str(min(found, key=lambda one: len(one.parts)).parent) if found else None


def _asv_results(root: Path, directory: str) -> str:
    from asv.util import load_json  # asv takes a quarter of a second to import

    path = root / directory / "asv.conf.json"
    try:
        loaded = load_json(str(path), js_comments=True)
        said = str(loaded.get("results_dir", "results"))
    except Exception as error:  # asv has errors of its own, and lets those of json5 through
        raise RecordError(f"{path} cannot be read: {str(error)[:200]}") from error
    where = (root / directory / said).resolve()
    if not where.is_relative_to(root.resolve()):
        raise RecordUsageError(f"{path} keeps its results outside of the repository, in {said!r}")
    return where.relative_to(root.resolve()).as_posix()


def _pyproject(path: Path) -> dict[str, dict[str, object]]:
    content = read_bounded(path, _LARGEST, "no person wrote that")
    try:
        found = tomllib.loads((content or b"").decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecordError(f"{path} is not valid TOML: {error}") from error
    return {key: value for key, value in found.items() if isinstance(value, dict)}


def _requirements(pyproject: dict[str, dict[str, object]]) -> list[str]:
    found = pyproject.get("project", {}).get("dependencies", [])
    return [str(one) for one in found] if isinstance(found, list) else []
