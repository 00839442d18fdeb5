"""`observatory deliver`: keep one GitHub issue for each alert."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from observatory.analyze.history.standing import by_need
from observatory.cli import github, options
from observatory.cli.output import name_broken
from observatory.errors import SelectionError
from observatory.github import issues, settings
from observatory.github.issues import Need, Wanted
from observatory.store.records import alerts as record
from observatory.store.records import found as found_record
from observatory.store.records.alerts import Alert, State
from observatory.store.records.found import Found
from observatory.text.alerts import with_page
from observatory.text.issue import issue_text, issue_title

_NEEDS: dict[State, Need] = {
    "new": "open", "open": "open", "expired": "open", "acknowledged": "known", "event": "over",
    "resolved": "over",
}  # fmt: skip


def command(
    results: options.Results = Path("results"),
    repo: github.Repo = "",
    url: options.Url = "",
    config: github.Config = None,
    api: github.Api = github.API,
    dry_run: github.DryRun = False,
) -> None:
    """Keep one issue for each alert of RESULTS/alerts.json: open, update, close and reopen it.

    The command never undoes what people did: closed issues, edited titles and locks stay. It reads
    the token from GITHUB_TOKEN.
    """  # fmt: skip
    site = options.pages_at(url).rstrip("/")
    wanted = settings.load(config).issues
    name_broken(results, told_later=record.FILE)
    found = record.load(results)
    if found is None:
        raise SelectionError(f"there is no {results / record.FILE}; run `observatory alerts` first")
    pages = {alert.id for alert in with_page(found)} if site else set()
    searched, retired = found_record.known(results), set(found.retired or ())
    alerts = [
        _wanted(
            alert,
            "over" if alert.id in retired else _NEEDS[alert.state],
            site if alert.id in pages else None,
            searched.of_change(alert),
        )
        for alert in by_need(found)
    ]
    hub = github.client(repo, api)
    if dry_run:
        plan, _ = issues.look(hub, alerts, wanted.most_a_night, {})
        lines = [f"would be done: {issues.describe(action)}" for action in plan.actions]
    else:
        lines, plan = issues.deliver(hub, alerts, wanted.labels, wanted.most_a_night)
    github.say_in_one_line(*(lines or ["every issue is up to date"]))
    for line in issues.remaining(plan, wanted.most_a_night):
        github.say_in_one_line(line)


def _wanted(alert: Alert, need: Need, site: str | None, found: Found) -> Wanted:
    page = None if site is None else f"{site}/alerts/{alert.id}.html"
    text = partial(issue_text, alert, page, found)
    return Wanted(alert.id, need, issue_title(alert), text)
