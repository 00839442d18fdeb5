"""Compare two subjects, measured now or saved."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from observatory import tool_version
from observatory.analyze.comparison.comparing import (
    OtherSpeed,
    Setting,
    compared,
    setting_of,
    who_of,
)
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.history.machine_changes import machine_changes, other_speeds
from observatory.analyze.history.series import series_of
from observatory.app import implementations
from observatory.app.cluster import on_cluster
from observatory.app.comparer import Comparer, discard, side_of
from observatory.app.profiles import profile_of_cells
from observatory.app.progress import Progress, Update, silent, skipped
from observatory.app.session import TIMEOUT, Session
from observatory.app.sides import alike
from observatory.benchmarks.catalogue import MEASURES
from observatory.run.interleave import SIDES, Matrix, matrix
from observatory.run.local import STATE
from observatory.run.presets import Narrowed
from observatory.run.sources import SubjectError
from observatory.store.base.files import read_bounded, write_atomic
from observatory.store.base.problems import RecordError, RecordUsageError
from observatory.store.base.strict_json import InvalidError, read_json
from observatory.store.reading.beside import problems_beside
from observatory.store.reading.cache import directory_for
from observatory.store.reading.read import read_results
from observatory.store.reading.saved import (
    INTERLEAVED,
    Saved,
    load_both,
    looks_saved,
    place_of_saved,
)
from observatory.store.records import calibration, layout
from observatory.store.records.comparison import Comparison
from observatory.store.records.machine import this_machine
from observatory.store.records.subject import Subject
from observatory.text.comment import comment
from observatory.text.records import comparison_of

_LARGEST = 16 * 2**20
"""Most bytes of a comparison that is read."""
PROFILE = "profile.html"
"""The flame graph of one cell, beside the samples of a comparison."""
NO_TIMES = "times were not compared: --pass left them out"


def compare(
    base: str,
    head: str,
    *,
    budget: float = 600.0,
    models: Sequence[str] | None = None,
    scenarios: Sequence[str] | None = None,
    backends: Sequence[str] | None = None,
    launches: Sequence[str] | None = None,
    passes: Sequence[str] | None = None,
    requirements: Sequence[str] = (),
    python: str | None = None,
    results: Path | str = "results",
    samples: Path | None = None,
    machine: str | None = None,
    seed: int = 0,
    timeout: float = TIMEOUT,
    state: Path = STATE,
    cluster: str | None = None,
    reproduce: str | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Say whether ``head`` is worse than ``base``, by how much and why.

    Args:
        base: The subject to compare with, written as for `measure`, or saved samples: a results
            directory, or ``DIRECTORY:LABEL`` for one of several subjects in it.
        head: The subject to judge, written like ``base``. If one side is saved, both must be.
        budget: Longest time of measuring in seconds, without making environments.
        models: Compare only these models. ``scenarios``, ``backends``, ``launches`` (start methods)
            and ``passes`` work in the same way; counting is always taken, unless ``work`` is
            taken alone.
        scenarios: See ``models``.
        backends: See ``models``.
        launches: See ``models``.
        passes: See ``models``.
        requirements: Further requirements of both environments.
        python: Version of Python of both; the newest that fits if None.
        results: Directory with the calibration of this machine.
        samples: Directory in which every sample is kept; STATE/comparisons/RUN if None.
        machine: Name of this machine; its host name if None.
        seed: Seed for the order of the samples and for the tests.
        timeout: Longest time in seconds for one measured process.
        state: Directory of environments and filled caches.
        cluster: ``local:N``, or the address of a scheduler of Dask, whose workers take the samples;
            both sides of a pair are taken on the same machine.
        reproduce: The command that repeats the comparison, for the comment.
        progress: A function that is called with every update, e.g. ``print``.

    Returns:
        The comparison: ``verdicts`` (one for each cell and metric, with the values of both sides in
        the metric's unit and the ratio HEAD over BASE), ``causes``, ``worse`` and ``undecided``.

    Raises:
        SubjectError: A side or a filter is unknown, the filters leave nothing to compare, or only
            work is wanted and nothing here counts it.
        RecordError: Saved samples cannot be read.
        EnvironmentMakingError: The environment of a side cannot be made.
        FleetError: The cluster cannot be used, or is lost.

    """
    narrowed = Narrowed(models, scenarios, backends, launches, passes)
    if unknown := narrowed.unknown():
        raise SubjectError(unknown)
    repeat = reproduce or shlex.join(["observatory", "compare", base, head])
    saved = looks_saved(base), looks_saved(head)
    if all(saved):
        sides = load_both(base, head, machine)
        places = dict.fromkeys(place_of_saved(text)[0] for text in (base, head))
        broken = [problem for side in sides for problem in side.problems]
        broken += [problem for place in places for problem in problems_beside(place)]
        for line in skipped(broken):
            progress(Update(line, "warning"))
        if profile_of_cells([(side.header.subject.label, side.samples) for side in sides]):
            command = ["observatory", "profile", base, head, "--form", "html", "--out", PROFILE]
            progress(Update(f"To draw a flame graph: {shlex.join(command)}", "plain"))
        speed = _other_speed(next(iter(places)), *sides) if len(places) == 1 else None
        return compare_saved(*sides, narrowed, Path(results), seed, repeat, speed)
    if any(saved):
        other = head if saved[0] else base
        raise SubjectError(
            f"{other} is not in a directory of saved results, as the other side is, and times of "
            "different runs cannot be compared; give saved results for both, or for none"
        )
    session = Session(
        INTERLEAVED, Path(results), state, this_machine(machine), timeout, progress=progress
    )
    cells = matrix(narrowed)
    if not cells.cells:
        raise SubjectError(narrowed.none_left("the comparison"))
    subjects = session.subjects.pair((base, head), requirements, python)
    where = samples or state / "comparisons" / session.run
    with on_cluster(session, cluster) as session:
        warnings = [NO_TIMES] if passes is not None and "timing" not in passes else []
        return _measured(session, subjects, cells, budget, seed, where, repeat, warnings)


def _measured(
    session: Session,
    subjects: Sequence[Subject],
    cells: Matrix,
    budget: float,
    seed: int,
    where: Path,
    repeat: str,
    warnings: list[str],
) -> Comparison:
    """Measure both sides, record the samples and the comparison below ``where``, and return it."""
    if cells.worked and (problem := session.uncounted()):
        if not cells.groups:
            raise SubjectError(problem)
        cells = replace(cells, worked=())
        warnings.append(f"work was not counted: {problem}")
    both, warning = alike(session, *subjects)
    warnings += [warning] if warning else []
    (base_side, of_base), (head_side, of_head) = (
        side_of(session, one.subject, where / name, cells.cells, one.pins)
        for name, one in zip(SIDES, (both.base, both.head), strict=True)
    )
    warnings += implementations.between(session.say, base_side.environment, head_side.environment)
    setting = Setting(
        base=of_base, head=of_head, started_at=datetime.now(UTC), interleaved=True, seed=seed,
        observatory=tool_version(), reproduce=repeat,
        calibration=calibration.load(session.results, session.machine.machine), apart=both.apart,
    )  # fmt: skip
    comparer = Comparer(
        session, {"base": base_side, "head": head_side}, setting, cells, budget, tuple(warnings)
    )
    try:
        comparison = comparer.run()
    except BaseException:  # also Ctrl-C: what was taken until then can be judged
        sides = [str(where / side) for side in SIDES]
        if all(any(layout.journals(Path(side))) for side in sides):
            again = shlex.join(["observatory", "compare", *sides])
            session.say(f"To judge what was measured: {again}", "plain")
        raise
    finally:
        discard(where)
    taken = [
        (side.subject.label, measured.evidence.samples)
        for side, measured in ((of_base, base_side), (of_head, head_side))
    ]
    # What does more work comes first: a time may only follow from it.
    worse = sorted(comparison.worse, key=lambda one: one.kind != "near_exact")
    profile = profile_of_cells(taken, (one.cell for one in worse))
    if profile is not None:
        comparison = comparison.model_copy(update={"profiled": profile.cell})
        write_atomic(where / PROFILE, profile.html())
        session.say(f"The flame graph is {where / PROFILE}")
    write_atomic(where / "comparison.json", as_json(comparison))
    write_atomic(where / "comparison.md", comment(comparison).encode())
    session.say(f"Samples: {where}")
    session.say(f"The comparison with all lists: {where / 'comparison.md'}")
    return comparison


def compare_saved(
    base: Saved, head: Saved, narrowed: Narrowed, results: Path, seed: int, reproduce: str,
    other_speed: OtherSpeed | None = None,
) -> Comparison:  # fmt: skip
    """Compare saved samples of two subjects in the cells that ``narrowed`` leaves.

    ``other_speed``: a change of the machine between the two, if the history shows one. Raises
    SubjectError if it leaves none.
    """
    setting = setting_of(
        base, head, calibration.load(results, head.header.machine.machine),
        seed=seed, observatory=tool_version(), reproduce=reproduce, other_speed=other_speed,
    )  # fmt: skip
    passes = MEASURES if narrowed.measures is None else ("counting", *narrowed.measures)
    of_base, of_head = (
        Evidence.of(sample for sample in side.samples if sample.measure in passes)
        for side in (base, head)
    )
    # The other cells stay in the evidence: a cold build explains what a warm one misses.
    cells = [
        cell
        for cell in of_base.cells | of_head.cells
        if narrowed.keeps(cell) and (narrowed.models is None or cell.model in narrowed.models)
    ]
    if not cells:
        raise SubjectError(
            "no saved sample is left to compare; change --model, --scenario, --backend or --launch"
        )
    warnings = () if "timing" in passes else (NO_TIMES,)
    return comparison_of(compared(setting, of_base, of_head, cells), warnings=warnings)


def _other_speed(results: Path, base: Saved, head: Saved) -> OtherSpeed | None:
    """The change of the machine between two subjects of a history, if it shows one."""
    read = read_results(results, directory_for(results))
    pair = who_of(base.header), who_of(head.header)
    return other_speeds(machine_changes(series_of(read)), pair).get(pair)


def load_comparison(path: Path) -> Comparison:
    """Read a file that `compare --json` wrote.

    Raises RecordUsageError where there is none, and RecordError where it is broken.
    """
    content = read_bounded(path, _LARGEST, "no comparison is")
    if content is None:
        raise RecordUsageError(f"there is no file {path}")
    try:
        return read_json(Comparison, content)
    except InvalidError as error:
        raise RecordError(f"{path} is not a comparison: {error}") from error


def as_json(comparison: Comparison) -> bytes:
    """The comparison as a file of the published schema."""
    return comparison.model_dump_json(by_alias=True, indent=1).encode() + b"\n"
