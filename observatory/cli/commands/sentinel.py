"""`observatory sentinel`: time work that never changes, to tell the machine from the code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from observatory.analyze.sentinel import Look, looks, place_of
from observatory.app.sentinel import look, pinned
from observatory.app.session import TIMEOUT, Session
from observatory.cli import options
from observatory.cli.output import Console, TerminalProgress, grid, name_broken, say
from observatory.run.local import STATE
from observatory.store.records import sentinels
from observatory.store.records.machine import this_machine
from observatory.text import units
from observatory.text.sentinel import changed, verdict

_SHOWN = 10


def command(
    subject: Annotated[
        str,
        typer.Option(
            help="The release that does the work. Default: the one that did it last, or the newest."
        ),
    ] = "",
    show: Annotated[
        bool, options.flag("--show", "Show earlier measurements; measure nothing.")
    ] = False,
    results: options.Results = Path("results"),
    stored: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Further results of this machine: the release that did the work last in either of "
            "them does it again.",
        ),
    ] = None,
    machine: options.Machine = None,
    python: options.Python = None,
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
) -> None:
    """Time work that never changes, and say whether this machine got faster or slower.

    The work is pure Python, NumPy, C, its compiler, and builds of one release in an environment
    that is kept. It takes about a minute. If more than half of it changed, the machine changed, and
    not the code: the times of the night are then unreliable, while counts and work still hold. The
    measurements are kept in RESULTS/sentinels/.
    """  # fmt: skip
    console = Console(stderr=True)
    name = this_machine(machine).machine
    name_broken(results)
    if not show:
        session = Session(
            "sentinel", results, state, this_machine(machine), timeout,
            progress=TerminalProgress(console),
        )  # fmt: skip
        known = [results] if stored is None else [results, stored]
        chosen = subject or pinned(known, name) or "newest"
        look(session, session.subjects.parse(chosen, (), python))
    own = [
        one for one in looks(sentinels.readable(results)) if one.sentinel.machine.machine == name
    ]
    if not own:
        say(f"{results} has no times of fixed work on {name}: run `observatory sentinel` first")
        return
    last = own[-1]
    alike = [one for one in own if place_of(one.sentinel) == place_of(last.sentinel)]
    pieces = list(last.sentinel.times)
    header = ("taken", *pieces, "changed")
    rows = [
        (f"{one.sentinel.taken_at:%Y-%m-%d %H:%M}", *(_cell(one, piece) for piece in pieces),
         changed(one))
        for one in alike[-_SHOWN:]
    ]  # fmt: skip
    title = f"{name}, {last.sentinel.subject.label}"
    Console().print(grid(header, rows, title=title, right=pieces, wrapped=header[-1:]))
    sentence = verdict(last)
    say(f"{sentence[0].upper()}{sentence[1:]}.")


def _cell(one: Look, piece: str) -> str:
    value = one.sentinel.medians.get(piece)
    if value is None:
        return units.MISSING
    ratio = one.ratios.get(piece)
    mark = "!" if piece in one.moved else ""
    change = "" if ratio is None else f" {units.signed(ratio)}{mark}"
    return f"{units.seconds(value)}{change}"
