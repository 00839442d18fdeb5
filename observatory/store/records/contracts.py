"""What of numba PyTensor relies on, and whether it holds: ``results/contracts/*.json``.

One file for each PyTensor, numba and Python that `observatory contracts` looked at, schema
``docs/schemas/contracts-1.json``. Looked at again, it is replaced.
"""

from __future__ import annotations

from typing import Annotated, Literal

from packaging.version import InvalidVersion, Version
from pydantic import Field, FiniteFloat

from observatory.store.base.moments import Moment
from observatory.store.base.problems import RecordError
from observatory.store.base.record import Record, RecordFiles
from observatory.store.records.layout import CONTRACTS, checked_name
from observatory.store.records.sample import Text, Word
from observatory.store.records.subject import Subject

Status = Literal["holds", "broken", "unavailable", "failed"]


class Contract(Record):
    """One contract, and what became of it."""

    area: Word
    name: Word
    holds: Text = Field(description="what must hold, as a sentence")
    needed: Text = Field(description="what of PyTensor breaks otherwise, as a sentence")
    status: Status = Field(
        description="unavailable: this PyTensor has no such thing; failed: it could not be judged"
    )
    detail: Text = Field(description="what was seen")
    seconds: Annotated[FiniteFloat, Field(ge=0)]


class Checked(Record):
    """Which subject it was, as far as the environment itself cannot tell."""

    subject: Subject
    lifted: bool = Field(description="this numba is beyond the bounds that PyTensor declares")


class Contracts(Record):
    """The contracts of one PyTensor with one numba."""

    schema_: Literal["observatory/contracts/1"] = Field("observatory/contracts/1", alias="schema")
    checked: Checked | None = Field(None, description="null as printed by the primitive")
    environment: dict[Word, Text | None] = Field(description="versions and platform, as strings")
    declared: Text | None = Field(None, description="the numbas that PyTensor's metadata allows")
    contracts: list[Contract] = Field(max_length=1_000)
    seconds: Annotated[FiniteFloat, Field(ge=0)]
    started_at: Moment

    @property
    def numba(self) -> str:
        """The version of numba that was checked; "none" if numba was not installed."""
        return self.environment.get("numba") or "none"

    def of(self, *statuses: Status) -> list[Contract]:
        """The contracts whose status is one of ``statuses``, in the order checked."""
        return [one for one in self.contracts if one.status in statuses]


def version_order(text: str) -> tuple[bool, Version | str, str]:
    """A key to sort versions by, those that are none last.

    >>> sorted(["0.68.1", "odd", "0.7", "0.68.0rc1"], key=version_order)
    ['0.7', '0.68.0rc1', '0.68.1', 'odd']
    """
    try:
        return False, Version(text), text
    except InvalidVersion:
        return True, text, text


def _name(record: Contracts) -> str:
    if record.checked is None:
        raise RecordError("it does not say which subject it is of")
    subject = record.checked.subject
    # numba is named for all alike, whether it was asked for or is the subject's own.
    others = tuple(one for one in subject.extras if not one.startswith("numba=="))
    place = subject.model_copy(update={"extras": others}).env_name.removeprefix("observatory-")
    name = f"{subject.label.partition(' ')[0]}-{place}-numba{record.numba}"
    return checked_name(name, "name of a record of contracts")


FILES = RecordFiles(
    Contracts,
    CONTRACTS,
    _name,
    "is no record of contracts",
    "check the contracts again",
    moment="started_at",
)
"""One for each subject that was checked; a newer one replaces the older one."""
path_of, save, load_all = FILES.path_of, FILES.save, FILES.load_all
