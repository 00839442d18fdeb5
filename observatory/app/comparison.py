"""Comparing two subjects: measured side by side now, or taken from saved samples."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from benchmarks.catalogue import MEASURES
from observatory.analyze.comparison.comparing import Setting, compared, setting_of
from observatory.analyze.comparison.evidence import Evidence
from observatory.app.comparer import Comparer, Measured, discard, side_of
from observatory.app.measurement import TIMEOUT
from observatory.app.progress import Message, Progress, silent, skipped
from observatory.app.session import Session
from observatory.app.version import tool_version
from observatory.run.interleave import SideName, matrix
from observatory.run.local import STATE, environment_of, local_subjects
from observatory.run.presets import Narrowed
from observatory.run.sources import SubjectError
from observatory.store.base.files import read_bounded, write_atomic
from observatory.store.base.problems import RecordError, RecordUsageError, reason_of
from observatory.store.journal.models import new_run
from observatory.store.reading.saved import INTERLEAVED, Saved, load, looks_saved
from observatory.store.records import calibration
from observatory.store.records.comparison import Comparison
from observatory.store.records.machine import this_machine
from observatory.text.records import comparison_of

_LARGEST = 64 * 2**20
"""Bytes of a comparison that is read."""
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
    reproduce: str | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Say whether ``head`` is worse than ``base``, by how much and why.

    Args:
        base: What to compare against: a subject as for `measure`, or saved samples: a results
            directory, or ``DIRECTORY:LABEL`` for one of several subjects in it.
        head: What to judge; written like ``base``. Saved samples are compared with saved ones only.
        budget: Seconds of measuring, environments not counted.
        models: Only these; likewise ``scenarios``, ``backends``, ``launches`` (start methods) and
            ``passes`` (counting is always taken).
        scenarios: See ``models``.
        backends: See ``models``.
        launches: See ``models``.
        passes: See ``models``.
        requirements: Further requirements of both environments.
        python: Version of Python of both; the newest that fits if None.
        results: Where the calibration of this machine is looked for.
        samples: Where every sample is kept; STATE/comparisons/RUN if None.
        machine: Name of this machine; its host name if None.
        seed: Seed for the order of the samples and for the tests.
        timeout: Seconds that one measured process may take.
        state: Where environments and filled caches are kept.
        reproduce: The command that repeats the comparison, as the comment names it.
        progress: Called with every update; ``print`` will do.

    Returns:
        The comparison: ``verdicts`` (one for each cell and metric, with the values of both sides in
        the metric's unit and the ratio HEAD over BASE), ``causes``, ``worse`` and ``undecided``.

    Raises:
        SubjectError: A side is not understood, or the filters leave nothing to compare.
        RecordError: Saved samples cannot be read.
        EnvironmentMakingError: The environment of a side cannot be made.

    """
    narrowed = Narrowed(models, scenarios, backends, launches, passes)
    if unknown := narrowed.unknown():
        raise SubjectError(unknown)
    repeat = reproduce or shlex.join(["observatory", "compare", base, head])
    saved = looks_saved(base), looks_saved(head)
    if all(saved):
        sides = load(base), load(head)
        for line in skipped([problem for side in sides for problem in side.problems]):
            progress(Message(line, "warning"))
        return compare_saved(*sides, narrowed, Path(results), seed, repeat)
    if any(saved):
        raise SubjectError(
            "only one side is saved results, and times of different runs cannot be compared; "
            "give saved results for both, or for none"
        )
    session = Session(
        results=Path(results), state=state, machine=this_machine(machine), timeout=timeout,
        run=new_run(INTERLEAVED), progress=progress,
    )  # fmt: skip
    return _measured(
        session, (base, head), narrowed, requirements, python, budget, seed, repeat, samples
    )


def compare_saved(
    base: Saved, head: Saved, narrowed: Narrowed, results: Path, seed: int, reproduce: str
) -> Comparison:
    """Compare the samples of two subjects that were taken before.

    Returns the comparison of the cells that ``narrowed`` leaves. Raises SubjectError if it leaves
    none.
    """
    setting = setting_of(
        base, head, calibration.load(results, head.header.machine.machine),
        seed=seed, observatory=tool_version(), reproduce=reproduce,
    )  # fmt: skip
    passes = MEASURES if narrowed.measures is None else ("counting", *narrowed.measures)
    of_base, of_head = (
        Evidence.of(sample for sample in side.samples if sample.measure in passes)
        for side in (base, head)
    )
    # The other cells stay in the evidence: the cold build explains what a warm one misses.
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


def _measured(
    session: Session,
    texts: Sequence[str],
    narrowed: Narrowed,
    requirements: Sequence[str],
    python: str | None,
    budget: float,
    seed: int,
    reproduce: str,
    samples: Path | None,
) -> Comparison:
    cells = matrix(narrowed)
    if not cells.counted:
        raise SubjectError(narrowed.none_left("the comparison"))
    subjects = local_subjects(session.state)
    parsed = subjects.parse_all(texts, requirements, python)
    if len(parsed) != 2:
        raise SubjectError(f"{' and '.join(texts)} are {len(parsed)} subjects; give exactly two")
    where = samples or session.state / "comparisons" / session.run
    measured = []
    for name, subject in zip(("base", "head"), parsed, strict=True):
        environment = environment_of(subject, subjects, session.state)
        measured.append(side_of(session, subject, environment, where / name))
    (base_side, of_base), (head_side, of_head) = measured
    setting = Setting(
        base=of_base, head=of_head, started_at=datetime.now(UTC), interleaved=True, seed=seed,
        observatory=tool_version(), reproduce=reproduce,
        calibration=calibration.load(session.results, session.machine.machine),
    )  # fmt: skip
    sides: dict[SideName, Measured] = {"base": base_side, "head": head_side}
    left_out = narrowed.measures is not None and "timing" not in narrowed.measures
    comparer = Comparer(session, sides, setting, cells, budget, (NO_TIMES,) if left_out else ())
    try:
        comparison = comparer.run()
    finally:
        discard(where)
    write_atomic(where / "comparison.json", as_json(comparison))
    session.say(f"Samples: {where}")
    return comparison


def load_comparison(path: Path) -> Comparison:
    """Read a file that `compare --json` wrote.

    Raises RecordUsageError where there is none, and RecordError where it is broken.
    """
    content = read_bounded(path, _LARGEST, "no comparison is")
    if content is None:
        raise RecordUsageError(f"there is no file {path}")
    try:
        return Comparison.model_validate_json(content)
    except ValidationError as error:
        raise RecordError(f"{path} is not a comparison: {reason_of(error)}") from error


def as_json(comparison: Comparison) -> bytes:
    """The comparison as a file of the published schema."""
    return comparison.model_dump_json(by_alias=True, indent=1).encode() + b"\n"
