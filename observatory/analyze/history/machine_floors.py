"""The rules of series, with what was learned of the noise of their machines. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from observatory.analyze.comparison.noise_floors import NoiseFloors
from observatory.analyze.comparison.rules import Rule, rule_at
from observatory.analyze.history.series import Series
from observatory.store.records.calibration import Calibration


class MachineFloors:
    """The noise floors of all machines that were calibrated."""

    def __init__(self, calibrations: Iterable[Calibration] = ()) -> None:
        self._floors = {
            one.machine.machine: (one.machine.cpu, NoiseFloors.of(one)) for one in calibrations
        }

    def rule_of(self, series: Series) -> Rule:
        """The rule of a series, with what was learned on its machine while it had this CPU."""
        line, place = series.line, series.place
        cpu, known = self._floors.get(line.machine, ("", NoiseFloors()))
        usable = place.model and cpu == line.era.cpu
        noise = known.noise(place.cell, place.metric) if usable else None
        return rule_at(place, noise, series.source)
