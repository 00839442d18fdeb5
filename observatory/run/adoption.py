"""What the observatory finds in a repository: what it can measure, and what is set up already.

The repository is read, also with git, but nothing of it is imported or run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from observatory.run.git import Git
from observatory.store.base.decode import NotTomlError, decoded_toml
from observatory.store.base.files import read_bounded
from observatory.store.base.problems import RecordError, RecordUsageError

WORKFLOWS = PurePosixPath(".github/workflows")
MARKER = "Written by `observatory init`"
"""In the first line of a file that is ours."""
PAGES_BRANCH = "gh-pages"
_LARGEST = 4 * 2**20
_FIXTURE = r"def (test|bench)\w*\(.*\bbenchmark\b"
"""A test with the fixture of pytest-benchmark."""
_NUMBA = re.compile(r"numba\b(?!-)", re.IGNORECASE)
_BUMPS = re.compile(r"(?i)\bbump\w*[-_ ](the[-_ ])?numba|numba[-_ ]upper[-_ ]bound")
_DEPLOYS = re.compile(r"uses:\s*['\"]?actions/deploy-pages@")
_PUSHES = re.compile(rf"\bgh-deploy\b|(?i:gh-?pages|github-pages-deploy)[\w-]*@|\b{PAGES_BRANCH}\b")
_CALLS_US = re.compile(r"uses:\s*\S+/\.github/workflows/(comment|compare|publish)\.yml@")
REMOTE = re.compile(r"github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?$")
STORE = re.compile(r"s3://[\w.-]+(/[\w.-]+)*")
"""The addresses of object stores that workflows may use."""
_STORE = re.compile(rf"^ +to: ({STORE.pattern})\r?$", re.MULTILINE)
_SAFE = re.compile(r"[\w.+/-]+")
"""Names that need no quotes in YAML and in commands."""


@dataclass(frozen=True)
class Site:
    """A site that the repository publishes on GitHub Pages."""

    branch: str
    """The branch that it is on; empty if a workflow deploys it without one."""
    said_by: str
    """The workflow or branch that shows it."""


@dataclass(frozen=True)
class Project:
    """What was found in a repository. Directories are relative to ``root``."""

    root: Path
    name: str
    """The name of the distribution; empty without a pyproject.toml that has one."""
    branch: str
    """The default branch."""
    repository: str = ""
    """OWNER/NAME on GitHub; empty if the remote `origin` is elsewhere."""
    tests: str | None = None
    """The directory of tests with pytest-benchmark."""
    asv: str | None = None
    """The directory of asv.conf.json."""
    asv_results: str | None = None
    """The directory of asv's results."""
    bounds_numba: bool = False
    """Whether pyproject.toml requires numba."""
    bumps_numba: str = ""
    """The workflow that raises the bound of numba already."""
    site: Site | None = None
    store: str = ""
    """The address of an object store that an earlier `init` was told."""
    older: tuple[str, ...] = ()
    """Workflows of an earlier version of the observatory, which nothing needs any more."""

    @property
    def is_pytensor(self) -> bool:
        """Whether the observatory's own benchmarks measure it."""
        return self.name == "pytensor"


def look(directory: Path) -> Project:
    """Read a checkout. Raises RecordError if it is not one, or if a name in it cannot be used."""
    root = Path(Git(directory).text("rev-parse", "--show-toplevel", found=False))
    git = Git(root)
    metadata = _metadata(root / "pyproject.toml")
    requirements = metadata.get("dependencies", [])
    asv, asv_results = _asv(git, root)
    remote = REMOTE.search(git.run("remote", "get-url", "origin").stdout.strip())
    theirs = {name: text for name, text in _workflows(root) if not is_ours(text)}
    ours_before = {name for name, text in theirs.items() if _CALLS_US.search(text)}
    others = {name: text for name, text in theirs.items() if name not in ours_before}
    project = Project(
        root=root,
        name=str(metadata.get("name", "")).lower(),
        branch=_default_branch(git),
        repository=remote[1] if remote else "",
        tests=_tests(git),
        asv=asv,
        asv_results=asv_results,
        bounds_numba=isinstance(requirements, list)
        and any(_NUMBA.match(str(one)) for one in requirements),
        bumps_numba=next((name for name, text in others.items() if _BUMPS.search(text)), ""),
        site=_site(git, others),
        store=_store(root),
        older=tuple(sorted(ours_before)),
    )
    for text in (project.branch, project.tests, project.asv, project.asv_results):
        if text is not None and not _SAFE.fullmatch(text):
            raise RecordUsageError(f"the name {text!r} cannot be written into a workflow")
    return project


def is_ours(text: str) -> bool:
    """Whether a workflow was written by `observatory init`."""
    return MARKER in text.partition("\n")[0]


def _store(root: Path) -> str:
    found = (_STORE.search(text) for _, text in _workflows(root) if is_ours(text))
    return next((one[1] for one in found if one), "")


def _workflows(root: Path) -> Iterator[tuple[str, str]]:
    """The workflows of a checkout, by path."""
    for path in sorted(Path(root, WORKFLOWS).glob("*.y*ml")):
        content = read_bounded(path, _LARGEST, "no workflow is")
        yield path.relative_to(root).as_posix(), (content or b"").decode(errors="replace")


def _site(git: Git, workflows: dict[str, str]) -> Site | None:
    """The site on GitHub Pages, as far as a clone shows one."""
    for name, text in workflows.items():
        if _DEPLOYS.search(text):
            return Site("", name)
    pushed = next((name for name, text in workflows.items() if _PUSHES.search(text)), "")
    remote = git.resolved(f"refs/remotes/origin/{PAGES_BRANCH}")
    if pushed or remote or git.resolved(f"refs/heads/{PAGES_BRANCH}"):
        return Site(PAGES_BRANCH, pushed or f"the branch {PAGES_BRANCH}")
    return None


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
        found = decoded_toml(content or b"").get("project", {})
    except NotTomlError as error:
        raise RecordError(f"{pyproject} is not valid TOML: {error}") from error
    return found if isinstance(found, dict) else {}
