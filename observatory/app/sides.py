"""The environments of the two sides of a comparison: alike in everything but what is compared."""

from __future__ import annotations

from observatory.app.progress import doing
from observatory.app.session import Session
from observatory.benchmarks.flags import flag
from observatory.run.asking import NoAnswerError, printed
from observatory.run.together import Resolved, Together, together
from observatory.run.uv import UvError, last_lines, unsatisfiable
from observatory.store.base.scratch import temporary
from observatory.store.records.subject import Subject

_SECONDS = 300.0


def alike(session: Session, base: Subject, head: Subject) -> tuple[Together, str]:
    """Both subjects with the dependencies of the later date, and a warning where that cannot be.

    An old release need not work with the packages of a later year: if one of the two cannot be
    imported with them, each has those of its own date. Raises UvError if the index does not answer,
    and as `Session.environment` does.
    """
    alone = Together(Resolved(base, {}), Resolved(head, {}), {})
    try:
        with doing(session.progress, "resolving the dependencies of both sides"):
            found = together(session.subjects.index, base, head)
    except UvError as error:
        if not unsatisfiable(error):
            raise
        return alone, _warning(f"no set of packages of one date satisfies both: {error.output}")
    for side, before in ((found.base, base), (found.head, head)):
        changed = side.pins or side.subject.exclude_newer != before.exclude_newer
        if changed and (problem := _not_importable(session, side)):
            why = f"{before.label} cannot be imported with those of the later one: {problem}"
            return alone, _warning(why)
    return found, ""


def _warning(why: str) -> str:
    return f"each side has the dependencies of its own date, because {' '.join(why.split())}"


def _not_importable(session: Session, side: Resolved) -> str:
    """The last line of what an import says; empty if it succeeds."""
    environment = session.environment(side.subject, pins=side.pins)
    with temporary("observatory-import-") as place:
        compiledir = flag("base_compiledir", str(place))
        variables = {**environment.variables(), "PYTENSOR_FLAGS": compiledir}
        command = [str(environment.python), "-c", "import pytensor"]
        try:
            status, _, stderr = printed(command, _SECONDS, variables)
        except NoAnswerError as error:
            return f"the import was ended: {error}"
    return last_lines(stderr, 1) if status else ""
