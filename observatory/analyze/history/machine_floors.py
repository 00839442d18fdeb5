"""The rules of series, with what was learned of the noise of their machines. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from observatory.analyze.comparison.noise_floors import NoiseFloors
from observatory.analyze.comparison.rules import Noise, Rule, rule_at
from observatory.analyze.history.series import Series
from observatory.benchmarks.catalogue import Cell
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
        if not place.model:  # nothing is learned of other projects
            return rule_at(place)
        learned = self.noise(line.machine, line.era.cpu, place.cell, place.metric)
        return rule_at(place, learned, series.source)

    def noise(self, machine: str, cpu: str, cell: Cell, metric: str) -> Noise | None:
        """What was learned of a metric on a machine while it had this CPU, if anything."""
        calibrated, known = self._floors.get(machine, ("", NoiseFloors()))
        return known.noise(cell, metric) if calibrated == cpu else None
