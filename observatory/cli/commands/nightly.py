"""`observatory nightly`: run every step of a night, whichever fails."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from observatory.app.measurement import chosen_tasks
from observatory.app.unattended import open_ranges
from observatory.benchmarks.catalogue import no_such
from observatory.cli import github, options
from observatory.cli.night_summary import summarise
from observatory.cli.nights import status_of, table
from observatory.cli.output import Console, say
from observatory.errors import SelectionError
from observatory.github import settings as settings_of_github
from observatory.objects.collection import Collection
from observatory.run import counter
from observatory.run.backlog import backlog, measured_commits
from observatory.run.branch import Branch
from observatory.run.incomplete import incomplete
from observatory.run.local import STATE
from observatory.run.night_steps import MEASURING, STEPS, Wishes, steps
from observatory.run.nightly import Nightly, command_of, one_at_a_time
from observatory.run.presets import PRESETS, Narrowed, tasks_of
from observatory.run.sources import commits_between, of_commit
from observatory.store.base.files import check_writable
from observatory.store.records.layout import checked_machine

NEW = "new"
"""The commits since the last one with results, instead of a range."""


def command(
    subject: Annotated[
        list[str] | None,
        typer.Argument(
            help="What to measure: newest, 3.3.7. Default: newest, unless --commits is given."
        ),
    ] = None,
    repo: options.Repo = None,
    commits: Annotated[
        str | None,
        typer.Option(
            metavar="A..B",
            help=f"A range A..B of commits in --repo; commits with results are skipped. {NEW}: all "
            "since the last one with results.",
        ),
    ] = None,
    most: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help=f"Measure at most this many commits with --commits {NEW}. If there are more new "
            "ones, take evenly spaced ones, and name the gaps.",
        ),
    ] = 8,
    results: options.Results = Wishes.results,
    out: options.Pages = Wishes.out,
    preset: Annotated[
        str, typer.Option(help=f"Which cells are measured, and how often: {', '.join(PRESETS)}.")
    ] = Wishes.preset,
    measure_budget: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Longest time for measuring one subject, so that one that hangs leaves time for "
            "the others: 90s, 10m, 1h; a sample that has begun is finished. Default: no limit.",
        ),
    ] = Wishes.measure_budget,
    python: options.Python = None,
    with_: options.With = None,
    launch: options.Launches = None,
    backend: options.Backends = None,
    scenario: options.Scenarios = None,
    machine: options.Machine = None,
    only: Annotated[options.Words, options.only("--only", STEPS, "step")] = None,
    canary: Annotated[
        bool, typer.Option(help="Check that a shared cache mixes up no results.")
    ] = True,
    sentinel: Annotated[
        bool, typer.Option(help="Time fixed work first: did the machine change?")
    ] = True,
    contracts: Annotated[bool, typer.Option(help="Check what PyTensor relies on in numba.")] = True,
    tomorrow: Annotated[
        bool, typer.Option(help="Try pre-releases of numba, if the index has any.")
    ] = True,
    work: Annotated[
        bool, typer.Option(help="Count the instructions of each subject, if the machine can.")
    ] = True,
    work_budget: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Longest time for counting the instructions of one subject: 90s, 10m, 1h.",
        ),
    ] = Wishes.work_budget,
    torture: Annotated[
        bool, typer.Option(help="Damage the caches of each release that has no record of it yet.")
    ] = True,
    torture_budget: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Longest time for damaging caches: 90s, 10m, 1h; a later night continues.",
        ),
    ] = Wishes.torture_budget,
    search: Annotated[bool, typer.Option(help="Search for the culprit of each open alert.")] = True,
    search_budget: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Longest time for searching for culprits: 90s, 10m, 1h; a later night continues.",
        ),
    ] = Wishes.search_budget,
    census_budget: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Longest time for the census of the last subject: 90s, 10m, 1h. Default: none.",
        ),
    ] = Wishes.census_budget,
    explore_budget: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Explore pairs of generated graphs for this time: 90s, 10m, 1h. Default: do "
            "not explore.",
        ),
    ] = Wishes.explore_budget,
    settings: Annotated[
        bool,
        options.flag(
            "--settings", "Let the canary also check pairs of settings, which takes long."
        ),
    ] = Wishes.settings,
    feed: Annotated[
        bool, options.flag("--feed", "Also write an Atom feed, with links to --url.")
    ] = Wishes.feed,
    url: options.Url = Wishes.url,
    deliver: Annotated[
        str,
        typer.Option(
            metavar="OWNER/NAME", help="Keep one issue for each alert in this repository."
        ),
    ] = Wishes.deliver,
    publish: Annotated[
        str,
        typer.Option(
            metavar="BRANCH", help="Add the results to this branch, or to s3://BUCKET/PREFIX."
        ),
    ] = Wishes.publish,
    publish_in: Annotated[
        Path, typer.Option(metavar="CLONE", help="The repository of --publish.")
    ] = Path(),
    remote: Annotated[
        str, typer.Option(help="The remote that --publish pushes to; '' pushes nowhere.")
    ] = Wishes.remote,
    summary: options.Summary = None,
    fresh: Annotated[
        bool, options.flag("--fresh", "Start again instead of continuing an unfinished night.")
    ] = False,
    state: options.State = STATE,
    cluster: options.Cluster = None,
    shard: Annotated[
        str,
        typer.Option(
            metavar="K/N",
            help="In the step `measure`, take only the K-th of N parts of the plan, for the jobs "
            "of a workflow's matrix. All times, and the sentinel, are in the first. Nothing else "
            "is divided.",
        ),
    ] = "",
    stored: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Results of earlier nights, from which the night learns which commits of "
            f"--commits {NEW} are measured and what these lack, which releases `torture` has "
            "tried, and which release the sentinel builds. Default: --results.",
        ),
    ] = None,
) -> None:
    """Run all commands of a night: measure, check, find alerts, build the pages and publish.

    A step that fails does not stop the others. After an interruption, the command continues with
    the first unfinished step. The exit status is that of the worst step.
    """  # fmt: skip
    _check(only or (), repo, commits, url, deliver)
    if {*MEASURING}.intersection(only or STEPS):
        check_writable(results, "--results")
    if machine is not None:
        checked_machine(machine)
    if publish:
        _check_target(publish, publish_in, remote)
    config = publish_in / settings_of_github.FILE
    if shard:
        options.part(shard)
    tasks = chosen_tasks(preset, Narrowed(None, scenario, backend, launch))
    budgets = (measure_budget, work_budget, search_budget, torture_budget, census_budget)
    for budget in filter(None, (*budgets, explore_budget)):
        options.seconds(budget)
    chosen, notes = _commits_of(repo, commits, stored or results, machine, most)
    if stored is not None and repo is not None and commits == NEW:
        # Commits that hang stay incomplete for days, and must leave time for new ones.
        room = most - len(chosen)
        again = incomplete(repo, "HEAD", stored, machine, preset, tasks, datetime.now(UTC), room)
        if again:
            listed = ", ".join(one[:10] for one in again)
            notes.append(f"Samples that an earlier night did not take are taken now: {listed}.")
        chosen = [of_commit(repo, one) for one in again] + chosen
    named = (
        ("canary", canary), ("contracts", contracts), ("work", work), ("search", search),
        ("sentinel", sentinel), ("tomorrow", tomorrow), ("torture", torture),
    )  # fmt: skip
    left_out = {name for name, on in named if not on}
    if commits and not chosen and not subject:
        left_out.update(MEASURING)
    wishes = Wishes(
        subjects=subject or (() if commits else ("newest",)),
        commits=chosen,
        only=frozenset(only or STEPS) - left_out, results=results, out=out, preset=preset,
        measure_budget=measure_budget,
        python=python, extras=[one for one in with_ or () if one], launches=launch or (),
        backends=backend or (), scenarios=scenario or (), work_budget=work_budget,
        census_budget=census_budget, explore_budget=explore_budget,
        settings=settings, torture_budget=torture_budget,
        search_budget=search_budget, clone=repo,
        no_work=_no_work(Narrowed(None, scenario, backend, launch), cluster), machine=machine,
        state=None if state == STATE else state, cluster=cluster or "",
        shard=shard, stored=stored,
        url=url, feed=feed, deliver=deliver, config=config if config.is_file() else None,
        publish=publish, repository=publish_in, remote=remote,
    )  # fmt: skip
    for note in notes:
        say(note)
    told = vars(wishes) | {"commits": f"{commits} of {repo}", "only": sorted(wishes.only)}
    asked = [f"{name}={value}" for name, value in told.items()]
    console = Console(highlight=False, soft_wrap=True)
    announce = partial(console.print, markup=False, style="bold")
    directory = state / "nightly"
    with one_at_a_time(directory, announce) as lock:
        night = Nightly(directory, partial(command_of, lock=lock), announce).night(
            asked, results, steps(wishes), fresh
        )
    console.print(table(night, f"Night of {night.started_at:%Y-%m-%d}"))
    if summary is not None:
        summarise(summary, night, wishes, notes, console)
    if status := status_of(night):
        raise typer.Exit(status)


def _no_work(narrowed: Narrowed, cluster: str | None) -> str:
    """Why the night counts no instructions; empty if it does. Workers of a cluster say it later."""
    if not tasks_of(PRESETS["work"], narrowed):
        return "the preset work has none of the chosen cells"
    return "" if cluster else counter.find().problem


def _check(
    only: Sequence[str], repo: Path | None, commits: str | None, url: str, deliver: str
) -> None:
    """Check early what would otherwise fail hours later. Raises SelectionError."""
    for name in only:
        if name not in STEPS:
            raise SelectionError(no_such("step", name, STEPS))
    if (repo is None) != (commits is None):
        raise SelectionError("--repo and --commits go together: --repo CLONE --commits A..B")
    options.pages_at(url)
    if deliver and not github.REPOSITORY.fullmatch(deliver):
        raise SelectionError(f"--deliver {deliver!r} is not a repository; write OWNER/NAME")
    if deliver and not os.environ.get("GITHUB_TOKEN"):
        raise SelectionError("--deliver needs a token in the environment variable GITHUB_TOKEN")


def _check_target(publish: str, repository: Path, remote: str) -> None:
    """Check early where results are published. Raises ObservatoryError."""
    if "://" in publish:
        Collection(publish)
    else:
        Branch(repository, publish, remote or None)


def _commits_of(
    repo: Path | None, commits: str | None, results: Path, machine: str | None, most: int
) -> tuple[list[str], list[str]]:
    """The commits to measure as texts of subjects, and sentences about them."""
    if repo is None or commits is None:
        return [], []
    if commits != NEW:
        return commits_between(repo, commits), []
    measured = measured_commits(results, "observatory", machine)
    found = backlog(repo, "HEAD", measured, most, open_ranges(results, repo))
    return [of_commit(repo, one) for one in found.chosen], found.sentences()
