"""Where a subject was measured: numbers of one place may stand side by side."""

from __future__ import annotations

from observatory.store.journal.models import JournalHeader


def measured_on(header: JournalHeader) -> str:
    """The Python and the machine, with its CPU and system, in words."""
    machine = header.machine
    words = f"Python {header.subject.python} on {machine.machine}", machine.cpu, machine.os
    return ", ".join(filter(None, words))
