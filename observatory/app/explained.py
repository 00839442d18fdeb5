"""Why the key of a function differs between two subjects, or between two processes of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from observatory.analyze.keys import KeyChange, changes
from observatory.app.progress import doing
from observatory.app.session import Session
from observatory.app.sides import alike
from observatory.benchmarks.catalogue import BACKENDS, no_such
from observatory.benchmarks.messages import KEY_CACHES, KeysRecord
from observatory.benchmarks.typed_json import MessageError, from_json
from observatory.errors import Exit, ObservatoryError, SelectionError
from observatory.run.environments import Environment
from observatory.run.printing import of_module
from observatory.run.uv import last_lines
from observatory.store.base.patterns import matches
from observatory.store.records.subject import Subject

_SEEDS = (1, 2)
"""The hash seeds of the two processes: what depends on the order of a set differs then."""
_TIMEOUT = 900.0
"""Seconds."""


class KeysError(ObservatoryError):
    """The process that takes keys apart ended without a record; the message says how."""

    exit_code = Exit.SAMPLE_FAILED


@dataclass(frozen=True)
class Asked:
    """Which functions are explained: those of one graph."""

    name: str
    """The name of a function, or a pattern with `*`."""
    model: str = "radon"
    graph: str = ""
    backend: str = "NUMBA"
    flags: str = ""


@dataclass(frozen=True)
class Explained:
    """What differs of the keys of some functions."""

    asked: Asked
    base: Subject
    head: Subject | None
    between: Sequence[KeyChange]
    """Between BASE and HEAD; empty without HEAD."""
    within: Mapping[str, Sequence[KeyChange]]
    """By label, between two processes of one subject with other hash seeds."""
    warning: str = ""


def explain(
    session: Session,
    asked: Asked,
    base: str,
    head: str | None = None,
    requirements: Sequence[str] = (),
    python: str | None = None,
) -> Explained:
    """Take the keys of functions apart in both subjects, twice in each, and compare them.

    Without ``head`` only two processes of ``base`` are compared. Raises SelectionError for a name
    that no function has and for a backend without keys of PyTensor, KeysError where a subject has
    no such keys, and what making an environment raises.
    """
    if BACKENDS[asked.backend].cache not in KEY_CACHES:
        known = [name for name, one in BACKENDS.items() if one.cache in KEY_CACHES]
        raise SelectionError(
            f"the cache of {asked.backend} has no keys that PyTensor makes; choose from "
            f"{', '.join(known)}"
        )
    texts = [base, *([head] if head else [])]
    subjects = list(session.subjects.parse_all(texts, requirements, python))
    if len(subjects) != len(texts) or (head and subjects[0] == subjects[1]):
        raise SelectionError(f"{' and '.join(texts)} are one subject; give different ones")
    pins: list[Mapping[str, str]] = [{}]
    warning = ""
    if head:
        both, warning = alike(session, *subjects)
        subjects = [both.base.subject, both.head.subject]
        pins = [both.base.pins, both.head.pins]
    environments = [
        session.environment(subject, pins=own) for subject, own in zip(subjects, pins, strict=True)
    ]
    records = []
    for subject, environment in zip(subjects, environments, strict=True):
        with doing(session.progress, f"taking the keys of {subject.label} apart"):
            records.append([taken_apart(environment, asked, seed) for seed in _SEEDS])
    names = {one.name for first, _ in records for one in first.functions}
    wanted = _wanted(asked, names)
    within = {
        subject.label: _only(wanted, changes(one.functions, another.functions))
        for subject, (one, another) in zip(subjects, records, strict=True)
    }
    between: list[KeyChange] = []
    if head:
        first, second = (own[0].functions for own in records)
        between = _only(wanted, changes(first, second))
    return Explained(asked, subjects[0], subjects[-1] if head else None, between, within, warning)


def taken_apart(environment: Environment, asked: Asked, seed: int) -> KeysRecord:
    """The functions of a graph with the parts of their keys, in one process. Raises KeysError."""
    words = ["--model", asked.model, "--backend", asked.backend, "--hash-seed", str(seed)]
    words += ["--graph", asked.graph] if asked.graph else []
    words += ["--flags", asked.flags] if asked.flags else []
    status, stdout, stderr = of_module(
        environment, "benchmarks.key_parts", words,
        timeout=_TIMEOUT, what="taking the keys apart", error=KeysError,
    )  # fmt: skip
    try:
        record = from_json(KeysRecord, stdout)
    except MessageError as error:
        output = last_lines(stderr, 3) or "nothing"
        raise KeysError(
            f"the keys could not be taken apart: the process ended with status "
            f"{status}, and its last output was: {output}"
        ) from error
    if record.problem:
        raise KeysError(f"there are no keys to take apart: {record.problem}")
    return record


def _wanted(asked: Asked, names: set[str]) -> set[str]:
    """The names that are meant. Raises SelectionError if there are none."""
    found = {asked.name} & names or {one for one in names if matches(one, asked.name)}
    if not found:
        raise SelectionError(
            f"{no_such('function', asked.name, sorted(names), most=12)}; for one of another graph "
            "add --model ops --graph NAME: `observatory census --list` has the names"
        )
    return found


def _only(wanted: set[str], found: Sequence[KeyChange]) -> list[KeyChange]:
    return [one for one in found if one.name in wanted]
