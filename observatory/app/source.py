"""Where the code of the measured project is: its addresses, and a local clone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from observatory.store.asv import config
from observatory.store.base.problems import RecordError
from observatory.text.forge import Forge, forge_of

OWN = Path(__file__).resolve().parents[2]
"""Its asv.conf.json is of PyTensor, whose cells no other project has."""


@dataclass(frozen=True)
class Source:
    """Where the code of the measured project is: addresses, and a local clone."""

    asv_config: Path | None = None
    """An asv.conf.json; by default the one beside the results."""
    clone: Path | None = None
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Those that are given rather than found: `commit`, `compare`, `triage`, and the `name`."""

    def forge(self, results: Path) -> Forge:
        """The project's name and addresses. Raises RecordError if a given file is broken."""
        path = self.asv_config or config.beside(results)
        try:
            found = config.AsvConfig() if path is None else config.load(path)
        except RecordError:
            if self.asv_config is not None:
                raise
            found = config.AsvConfig()  # nobody asked for it
        return forge_of(found, self.addresses)
