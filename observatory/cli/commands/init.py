"""`observatory init`: write the GitHub workflows and settings of a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from observatory.cli import options
from observatory.run.adoption import File, Project, files_for, look, this_tool
from observatory.store.base.files import write_atomic
from observatory.store.base.problems import RecordUsageError
from observatory.text.words import several

_HOME = Path(__file__).resolve().parents[3]
_BACKUP = ".bak"


def command(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="A checkout of PyTensor, or of any project.")
    ] = Path(),
    observatory: Annotated[
        str | None,
        typer.Option(
            metavar="OWNER/NAME",
            help="GitHub repository of the observatory. Default: that of this clone.",
        ),
    ] = None,
    commit: Annotated[
        str | None,
        typer.Option(help="Full hash of its commit. Default: the one that is checked out."),
    ] = None,
    force: Annotated[
        bool,
        options.flag("--force", f"Replace existing files, and keep the old ones as NAME{_BACKUP}."),
    ] = False,
    dry_run: Annotated[
        bool, options.flag("--dry-run", "Print the files instead of writing them.")
    ] = False,
) -> None:
    """Write commented GitHub workflows that measure, compare and show a project.

    The command finds asv suites and tests that use pytest-benchmark, which need no change. In a
    checkout of PyTensor it also sets up the comparison of pull requests.
    """  # fmt: skip
    project = look(directory)
    chosen = files_for(project, this_tool(observatory, commit, _HOME))
    _say_found(project)
    if not chosen:
        raise RecordUsageError(
            f"{project.root} is not PyTensor and has neither an asv.conf.json nor a test that uses "
            "pytest-benchmark; add benchmarks first"
        )
    written = 0
    for file in chosen:
        if dry_run:
            print(f"# {file.path}\n{file.content.decode()}")
        else:
            written += _write(project.root, file, force)
    if not dry_run:
        print(f"{several(written, 'file')} written.")
        _say_next(project)


def _say_found(project: Project) -> None:
    kind = "a checkout of PyTensor" if project.is_pytensor else project.name or "a project"
    print(f"{project.root}: {kind}, default branch {project.branch}")
    if project.tests is not None:
        print(f"found: pytest-benchmark in {project.tests}")
    if project.asv is not None:
        print(f"found: asv.conf.json in {project.asv}, results in {project.asv_results}")


def _write(root: Path, file: File, force: bool) -> bool:
    path = root / file.path
    if path.exists() and path.read_bytes() == file.content:
        print(f"{file.path}: already up to date")
        return False
    if path.exists() and not force:
        print(f"{file.path}: exists and was not changed; --force replaces it")
        return False
    if path.exists():
        write_atomic(_free(path), path.read_bytes())
    write_atomic(path, file.content)
    print(f"{file.path}: {file.purpose}")
    return True


def _free(path: Path) -> Path:
    """An unused name beside ``path`` that GitHub does not take for a workflow."""
    number = 0
    while (found := path.with_name(f"{path.name}{_BACKUP}{number or ''}")).exists():
        number += 1
    return found


def _say_next(project: Project) -> None:
    print("Next:")
    print('- GitHub, Settings, Pages: choose "GitHub Actions" as the source')
    if project.is_pytensor:
        print("- create the label run-benchmark; everyone who may set it can request a comparison")
    if project.tests is not None or project.asv is not None:
        print('- edit the lines marked "YOURS", which install what the benchmarks need')
    print("- commit the files in a pull request")
