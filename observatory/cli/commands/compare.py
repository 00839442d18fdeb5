"""`observatory compare`: say whether one subject is worse than another."""

from __future__ import annotations

import glob
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import RenderableType

from observatory.analyze.comparison.comparing import outcome_of
from observatory.app.comparison import as_json
from observatory.app.comparison import compare as compare_subjects
from observatory.app.contrasts import contrast
from observatory.app.session import TIMEOUT
from observatory.benchmarks.catalogue import MEASURES, MODELS
from observatory.cli import options
from observatory.cli.output import Console, TerminalProgress, on_terminal, say
from observatory.errors import Exit, SelectionError
from observatory.run.local import STATE
from observatory.run.sources import commits_between, uncommitted
from observatory.store.base.files import write_atomic
from observatory.store.reading.saved import looks_saved, without_samples
from observatory.store.records.comparison import Comparison
from observatory.text.comment import comment, written
from observatory.text.contrasts import told
from observatory.text.terminal import drawn, terminal

_NAMELESS = re.compile(r"HEAD\b|@|[0-9a-f]{7,40}$")
"""References that are no names: a commit, or what is checked out."""
_OUTPUTS = ("--json", "--markdown", "--samples", "--results", "--state")


def command(
    base: Annotated[
        str,
        typer.Argument(
            help="The subject to compare with: a release (3.3.6), a wheel, a git ref (with "
            "--repo), or saved results (DIR or DIR:SUBJECT), of any asv project too."
        ),
    ],
    head: Annotated[str, typer.Argument(help="The subject to judge, written like BASE.")],
    budget: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Longest time for measuring, without making environments: 90s, 10m, 1h.",
        ),
    ] = "10m",
    repo: Annotated[
        Path | None,
        typer.Option(metavar="CLONE", help="A clone of PyTensor; BASE and HEAD are refs in it."),
    ] = None,
    with_: options.With = None,
    python: options.Python = None,
    model: Annotated[
        options.Words,
        options.only(
            "--model",
            MODELS,
            "model",
            "Default: radon, and small sets of other graphs unless --scenario is given.",
        ),
    ] = None,
    scenario: options.Scenarios = None,
    backend: options.Backends = None,
    launch: options.Launches = None,
    pass_: Annotated[
        options.Words,
        options.only(
            "--pass", MEASURES, "pass", "Counting is always taken, unless `work` is taken alone."
        ),
    ] = None,
    json_: Annotated[
        Path | None,
        typer.Option(
            "--json", metavar="FILE", help="Write the comparison as JSON to this file; - is stdout."
        ),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the comment for a pull request to this file; - is stdout."
        ),
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Directory of the samples. Default: STATE/comparisons/RUN."
        ),
    ] = None,
    results: options.Results = Path("results"),
    machine: options.Machine = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Seed for the order of the samples and for the tests.")
    ] = 0,
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
    cluster: options.Cluster = None,
    benchmark: options.Benchmark = None,
    top: options.Top = None,
) -> None:
    """Say whether HEAD is worse than BASE, by how much and why.

    The command measures both in turn. It first counts cache events, which takes a minute or two.
    It then measures times until a test decides every cell or the budget is spent. With --pass work,
    it counts Python calls and instructions instead, which other programs on the machine do not
    change. The noise floors of this machine are read from RESULTS. Every sample is kept and can be
    compared again.

    Saved results of other projects (DIR:SUBJECT, a commit or a release) are compared by the levels
    of their history. Without a history, the rounds of one run on each side are compared; one run
    cannot show how much the next one differs, so this raises no alarm.
    """  # fmt: skip
    measuring: dict[str, object] = {
        "--with": with_, "--python": python, "--samples": samples, "--cluster": cluster,
    }  # fmt: skip
    if without_samples(base) and without_samples(head):
        cells: dict[str, object] = {
            "--model": model, "--scenario": scenario, "--backend": backend,
            "--launch": launch, "--pass": pass_,
        }  # fmt: skip
        _refuse("results of other projects are selected with --benchmark alone", cells | measuring)
        _of_others(base, head, benchmark, top, json_, markdown)
    if benchmark is not None or top is not None:
        raise SelectionError(
            "--benchmark and --top are for results of other projects; give --model, --scenario, "
            "--backend or --launch"
        )
    seconds = options.seconds(budget)
    console = Console(stderr=True)
    saved = looks_saved(base) or looks_saved(head)
    if saved:
        _refuse("saved results are compared as they are", measuring)
    if repo is None and not saved and all(_is_saved(results, text) for text in (base, head)):
        again = shlex.join(["observatory", "compare", f"{results}:{base}", f"{results}:{head}"])
        line = f"{results} has values of both; to judge these, and measure nothing: {again}"
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    texts = [base, head]
    pinned: dict[str, str] = {}
    refs: dict[str, str] = {}
    if repo is not None:
        if not saved:
            texts = [commits_between(repo, ref)[0] for ref in texts]
            for text in dict.fromkeys(texts):
                if warning := uncommitted(repo, text.rpartition("@")[2]):
                    console.print(warning, style="yellow", markup=False, highlight=False)
        # The command to repeat names commits, because refs move.
        pinned = {
            ref: text.rpartition("@")[2] for ref, text in zip((base, head), texts, strict=True)
        }
        refs = {f"{side}_ref": ref for side, ref in (("base", base), ("head", head))
                if not _NAMELESS.match(ref)}  # fmt: skip
    comparison = compare_subjects(
        *texts, budget=seconds, models=model, scenarios=scenario, backends=backend,
        launches=launch, passes=pass_, requirements=with_ or (), python=python, results=results,
        samples=samples, machine=machine, seed=seed, timeout=timeout, state=state, cluster=cluster,
        reproduce=shlex.join(["observatory", *repeated(sys.argv[1:], pinned)]),
        progress=TerminalProgress(console),
    )  # fmt: skip
    comparison = comparison.model_copy(update=refs)
    forms = ((json_, as_json(comparison)), (markdown, comment(comparison).encode()))
    _write(forms, terminal(comparison))
    raise typer.Exit(status(comparison))


def _refuse(why: str, options_: Mapping[str, object]) -> None:
    """Refuse options that would change nothing."""
    if given := [name for name, value in options_.items() if value]:
        raise SelectionError(f"{why}; drop {', '.join(given)}")


def _is_saved(results: Path, subject: str) -> bool:
    """Whether a directory of results has values of a release or commit; it reads no values."""
    text = f"{results}:{subject}"
    if not looks_saved(text):
        return False
    # Results of other projects have no journal, but names that begin with the commit or release.
    named = f"*/{glob.escape(subject[:8])}*.json"
    return not without_samples(text) or next(results.glob(named), None) is not None


def _of_others(
    base: str,
    head: str,
    benchmark: str | None,
    top: int | None,
    json_: Path | None,
    markdown: Path | None,
) -> NoReturn:
    """Compare two subjects of a project that has no samples, and end with the exit status."""
    found = contrast(base, head, pattern=benchmark, progress=on_terminal())
    story = told(found, top)
    as_json = found.model_dump_json(by_alias=True, indent=1).encode() + b"\n"
    _write(((json_, as_json), (markdown, written(story).encode())), drawn(story))
    raise typer.Exit({"worse": Exit.WORSE, "undecided": Exit.UNDECIDED}.get(story.state, Exit.OK))


def repeated(arguments: Sequence[str], pinned: Mapping[str, str]) -> Iterator[str]:
    """The arguments with which another person can repeat the command.

    Paths of outputs are left out. An argument in ``pinned`` is replaced by its value there, unless
    it is the value of an option.
    """
    left = iter(arguments)
    is_value = False
    for argument in left:
        name, equals, _ = argument.partition("=")
        opens = argument.startswith("--") and not equals and not is_value
        if name in _OUTPUTS and not is_value:
            if opens:
                next(left, None)
            continue
        yield argument if is_value else pinned.get(argument, argument)
        is_value = opens


STATUS = {
    "wrong results": Exit.WRONG_RESULTS,
    "worse": Exit.WORSE,
    "undecided": Exit.UNDECIDED,
    "calm": Exit.OK,
}
"""The exit status for each outcome of a comparison; with no other is there a comparison."""


def status(comparison: Comparison) -> Exit:
    """The exit status for the outcome of a comparison."""
    return STATUS[outcome_of(comparison)]


def _write(forms: Sequence[tuple[Path | None, bytes]], shown: RenderableType) -> None:
    """Write the files that are wanted; print ``shown`` unless one of them is stdout."""
    dash = Path("-")
    for path, content in forms:
        if path == dash:
            say(content.decode(), end="")
        elif path is not None:
            write_atomic(path, content)
    if all(path != dash for path, _ in forms):
        Console().print(shown)
