"""What generated pairs of graphs showed: `observatory explore` stores it.

``results/explored/<time>-<subject>-<backend>.json``, schema ``docs/schemas/explored-1.json``.
"""

from __future__ import annotations

import json
import re
from datetime import UTC
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, FiniteFloat

from observatory.benchmarks.described import DescribedPair
from observatory.benchmarks.typed_json import from_json
from observatory.store.base.moments import Moment
from observatory.store.base.record import Record, RecordFiles
from observatory.store.records.layout import EXPLORED, checked_name
from observatory.store.records.sample import Count, Text, Word

MOST_FOUND = 1_000
"""Counterexamples in one record; further ones of the same run are not recorded."""


def _described(value: Any) -> Any:
    """A pair, from what JSON gives; reading ends at the first mistake, as in lists of records."""
    if isinstance(value, DescribedPair):
        return value
    return from_json(DescribedPair, json.dumps(value))


class Counterexample(Record):
    """A pair with which something is not as it must be."""

    name: Word
    finding: Word = Field(description="collided, unstable, wrong, raised or died")
    note: Text = Field(description="what happened, in the words of the sample")
    pair: Annotated[DescribedPair, BeforeValidator(_described)]
    after: Count = Field(description="how many pairs had been generated when it was found")
    shrunk: bool = Field(
        description="whether it was made smaller, and is a counterexample on its own"
    )
    known: bool = Field(
        False, description="whether a counterexample of this name had been kept before"
    )


class Exploration(Record):
    """One run: what was tried, and what was found."""

    schema_: Literal["observatory/explored/1"] = Field("observatory/explored/1", alias="schema")
    subject: Text
    backend: Word
    seed: int = Field(description="gives the same pairs again")
    started_at: Moment
    versions: dict[Word, Text | None]
    tried: dict[Word, Count] = Field(description="pairs, by what their graphs differ in")
    absent: Count = Field(
        description="pairs that were not judged: the release has no such graph, or its Python code "
        "raises an exception"
    )
    batches: Count
    seconds: Annotated[FiniteFloat, Field(ge=0)]
    cpu_seconds: Annotated[FiniteFloat, Field(ge=0)]
    found: list[Counterexample] = Field(max_length=MOST_FOUND)
    failed: list[Text] = Field(
        max_length=10_000, description="why batches could not be measured, one reason for each"
    )


def _name(one: Exploration) -> str:
    subject = re.sub(r"[^A-Za-z0-9.]+", "-", one.subject)[:60]
    when = one.started_at.astimezone(UTC)
    return checked_name(f"{when:%Y%m%dT%H%M%S}-{subject}-{one.backend}", "name of a record")


FILES = RecordFiles(
    Exploration,
    EXPLORED,
    _name,
    "is no record of explored pairs",
    "remove it; its seed gives the same pairs again",
    most=16 * 2**20,
    moment="started_at",
)
"""One for each run; none replaces another."""
save, load_all = FILES.save, FILES.load_all
