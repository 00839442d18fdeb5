"""The machine that measured, in the fields that asv knows."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from observatory.store.base.record import Record
from observatory.store.records.layout import checked_machine

Words = Annotated[str, StringConstraints(max_length=500)]


class Machine(Record):
    """asv's description of a machine; all are strings, as in asv's ``machine.json``."""

    machine: Words = Field(min_length=1, description="its name, unique in a results directory")
    os: Words = Field("", description="e.g. Linux 6.8")
    arch: Words = Field("", description="e.g. x86_64")
    cpu: Words = Field("", description="model name of the processor")
    num_cpu: Words = Field("", description="number of processors")
    ram: Words = Field("", description="physical memory in kB")


def this_machine(name: str | None = None) -> Machine:
    """Describe this machine as asv would; ``name`` replaces the host name.

    Raises RecordUsageError if results cannot be kept under that name.
    """
    own = {} if name is None else {"machine": checked_machine(name)}
    # asv takes a quarter of a second to import: only who measures needs it.
    from asv.machine import Machine as AsvMachine

    found = {key: str(value) for key, value in AsvMachine.get_defaults().items()}
    return Machine.model_validate(found | own)
