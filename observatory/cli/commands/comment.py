"""`observatory comment` and `observatory deliver`: verdicts and alerts where people read them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dashboard.alerts import with_page
from dashboard.comment import comment as comment_of
from dashboard.issue import issue_text, issue_title
from dashboard.plain import shorten
from dashboard.telling.story import tell
from observatory.cli import options
from observatory.cli.exit_codes import Exit
from observatory.decide.places import SelectionError
from observatory.github import artifact, checks, delivering, settings, sticky
from observatory.github.artifact import LARGEST_COMPARISON, LARGEST_ZIP, Artifact
from observatory.github.client import GitHub
from observatory.github.errors import GitHubError, RefusedError
from observatory.github.issues import Standing, Wanted
from observatory.github.settings import CommentSettings
from observatory.github.target import Target, downloaded, run_of, target_of, with_origin
from observatory.github.transport import Clock, SystemClock, Transport
from observatory.record import alerts as record
from observatory.record.alerts import Alert, State
from observatory.record.comparison import Comparison
from observatory.record.files import read_bounded
from observatory.record.problems import RecordError

app = typer.Typer()

CLOCK: Clock = SystemClock()
_ARTIFACT = "observatory-comparison"
_API = "https://api.github.com"
_REPO = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}")
_PAGE = re.compile(r"https?://[^\s<>()\[\]\"'`]+")
_STANDING: dict[State, Standing] = {
    "new": "open", "open": "open", "expired": "open", "acknowledged": "known", "resolved": "over",
}  # fmt: skip

Repo = Annotated[
    str, typer.Option(envvar="GITHUB_REPOSITORY", help="OWNER/NAME.", show_default=False)
]
Api = Annotated[str, typer.Option(envvar="GITHUB_API_URL", help="Address of GitHub's REST API.")]
Config = Annotated[
    Path | None, typer.Option(help=f"Settings of the repository. Default: {settings.FILE}.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be done, and write nothing to GitHub.")
]


@app.command()
def comment(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="A comparison (JSON), or an artifact (zip). Default: downloaded from --run.",
        ),
    ] = None,
    run: Annotated[
        int | None, typer.Option(min=1, help="The workflow run whose artifact it is.")
    ] = None,
    pull: Annotated[
        int | None,
        typer.Option(min=1, help="The pull request, if you know it. Never from an artifact."),
    ] = None,
    repo: Repo = "",
    name: Annotated[str, typer.Option("--artifact", help="Name of the artifact.")] = _ARTIFACT,
    summary: Annotated[
        Path | None, typer.Option(help="Also append the comment here: $GITHUB_STEP_SUMMARY.")
    ] = None,
    config: Config = None,
    api: Api = _API,
    dry_run: DryRun = False,
) -> None:
    """Publish a comparison as one comment on its pull request, with a check on the commit.

    With --run the artifact is from strangers: it is checked before anything is written, and its
    pull request has to be the one that GitHub's own record of the run fits. The token is in
    GITHUB_TOKEN.
    """  # fmt: skip
    if run is None and pull is None and summary is None:
        raise SelectionError("nowhere to publish: say which --run, --pull or --summary")
    with _exits():
        wanted = settings.load(config).comment
        local = None if file is None else _local(file)
        if run is None and pull is None:
            _summarise(summary, comment_of(_given(local).comparison))
            return
        github = _github(repo, api)
        the_run = None if run is None else run_of(github, run)
        found = _given(local) if local or not the_run else downloaded(github, the_run, name)
        target = target_of(github, found, the_run, pull)
        text = comment_of(found.comparison)
        _summarise(summary, text)
        _publish(github, target, found.comparison, text, wanted, dry_run)


@app.command()
def deliver(
    results: options.Results = Path("results"),
    repo: Repo = "",
    page: Annotated[
        str | None, typer.Option(help="Address of the site: issues link to the alert's page.")
    ] = None,
    config: Config = None,
    api: Api = _API,
    dry_run: DryRun = False,
) -> None:
    """Keep one issue for each alert of RESULTS/alerts.json: open, update, close, reopen.

    What people do by hand stays: a closed issue, an edited title, a lock. The token is in
    GITHUB_TOKEN.
    """  # fmt: skip
    if page is not None and not _PAGE.fullmatch(page):
        raise SelectionError(f"--page {page!r} is no address; say it like https://example.org/")
    with _exits():
        wanted = settings.load(config).issues
        found = record.load(results)
        if found is None:
            raise SelectionError(
                f"there is no {results / record.FILE}: run `observatory alerts` first"
            )
        pages = {alert.id for alert in with_page(found)} if page else set()
        alerts = [
            _wanted(alert, f"{page}".rstrip("/") if alert.id in pages else None)
            for alert in sorted(found.alerts, key=lambda one: record.STATES.index(one.state))
        ]
        github = _github(repo, api)
        if dry_run:
            plan, _ = delivering.look(github, alerts, wanted.most_a_night, {})
            lines = [f"would be done: {delivering.told(action)}" for action in plan.actions]
        else:
            done = delivering.deliver(github, alerts, wanted.labels, wanted.most_a_night)
            lines, plan = list(done.done), done.plan
        _say(*(lines or ["every issue says this already"]))
        for line in delivering.left(plan, wanted.most_a_night):
            _say(line)


def _wanted(alert: Alert, site: str | None) -> Wanted:
    page = None if site is None else f"{site}/alerts/{alert.id}.html"
    return Wanted(
        alert.id, _STANDING[alert.state], issue_title(alert), partial(issue_text, alert, page)
    )


def _github(repo: str, api: str) -> GitHub:
    token = os.environ.get("GITHUB_TOKEN", "").strip()
    if not token:
        raise SelectionError(
            "there is no token in GITHUB_TOKEN; docs/github.md says which it needs"
        )
    if not _REPO.fullmatch(repo):
        raise SelectionError(f"--repo {repo!r:.100} is no repository; say it like OWNER/NAME")
    return GitHub(Transport(api, token, CLOCK), repo)


def _local(file: Path) -> Artifact:
    try:
        content = read_bounded(file, max(LARGEST_ZIP, LARGEST_COMPARISON), "no comparison is")
    except RecordError as error:
        raise RefusedError(str(error)) from error
    if content is None:
        raise SelectionError(f"there is no file {file}")
    return artifact.read(content)


def _given(local: Artifact | None) -> Artifact:
    if local is None:
        raise SelectionError("nothing to publish: say which --run, or a FILE")
    return local


def _publish(
    github: GitHub, target: Target, comparison: Comparison, text: str,
    wanted: CommentSettings, dry_run: bool,
) -> None:  # fmt: skip
    """The comment, the label, the check: all three are tried, whichever fails."""
    number, run = target.pull.number, target.run
    said = sticky.Wanted(
        with_origin(text, target), (run.id, run.run_attempt) if run is not None else None
    )
    story = tell(comparison)
    title = shorten("".join(p if isinstance(p, str) else p.text for p in story.verdict), 200)

    def the_comment() -> None:
        if target.pull.locked:
            _say(f"pull request {number} is locked: it gets no comment")
        elif dry_run:
            actions = sticky.look(github, number, said, {}).actions
            _say(f"would be done: {', '.join(type(one).__name__.lower() for one in actions)}")
        else:
            _say(
                *(f"pull request {number}: {line}" for line in sticky.publish(github, number, said))
            )

    def the_label() -> None:
        if wanted.label and not dry_run and github.remove_label(number, wanted.label):
            _say(f"pull request {number}: took the label {wanted.label} off")

    def the_check() -> None:
        if wanted.check == "none":
            return
        concluded = checks.conclusion(story.state, wanted.check)
        if not dry_run:
            by = f"{run.id}.{run.run_attempt}" if run else "by hand"
            checks.put(github, target.sha, wanted.check_name, concluded, title, text, by)
        _say(f"commit {target.sha[:10]}: {wanted.check_name} is {concluded}")

    _each(the_comment, the_label, the_check)


def _summarise(summary: Path | None, text: str) -> None:
    """Append to the job's summary, which belongs to several steps."""
    if summary is None:
        return
    try:
        with summary.open("a", encoding="utf-8") as stream:
            stream.write(text.partition("\n")[2].rstrip() + "\n\n")
    except OSError as error:
        raise SelectionError(f"--summary {summary} cannot be written: {error.strerror}") from error


def _each(*steps: Callable[[], None]) -> None:
    failed = []
    for step in steps:
        try:
            step()
        except GitHubError as error:
            failed.append(str(error))
    if failed:
        raise GitHubError("; ".join(failed))


@contextmanager
def _exits() -> Iterator[None]:
    """Errors of this module's own kinds as a sentence and a status."""
    try:
        yield
    except RefusedError as error:
        _leave(f"refused: {error}; nothing was written", Exit.ARTIFACT)
    except GitHubError as error:
        _leave(str(error), Exit.GITHUB)


def _leave(message: str, code: Exit) -> None:
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    errors.print(f"observatory: {_inert(message)}", style="red", markup=False)
    raise typer.Exit(code)


def _say(*lines: str) -> None:
    for line in lines:
        print(_inert(line))


def _inert(line: str) -> str:
    """A line that the runner of a workflow obeys nowhere: it does so for "##[" in the middle."""
    return line.replace("##[", "## [")
