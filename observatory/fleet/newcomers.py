"""Places that join while samples are taken: they are prepared beside what runs, and then used.

A machine that was lost for good is often replaced, as a scheduler of pods or a cloud does. Making
an environment takes minutes, so each newcomer is prepared by a thread of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from observatory.fleet.crew import Crew
from observatory.run.placing import Placing


@dataclass(eq=False)
class Party:
    """Who takes samples of one subject: a newcomer must be prepared for it first.

    Both sides of a comparison share a placing, so that no pair goes where only one of them can be
    taken.
    """

    placing: Placing
    prepare: Callable[[str], None]
    """Makes what samples need at a place; one that cannot have it is left by the placing."""


@dataclass
class Newcomers:
    """The places that have workers and are not used yet."""

    crew: Crew
    look_at: Callable[[str], None]
    """Finds out whether times of a place are trusted."""
    join: Callable[[Placing, str], None]
    """Lets a place take tasks."""
    parties: list[Party] = field(default_factory=list)
    """Those that take samples now."""
    barred: str = ""
    """The boot of this machine, if the command does not hold its lock for measuring."""
    _preparing: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def welcome(self) -> bool:
        """Begin to prepare what has joined; return whether a place is being prepared."""
        with self._lock:
            for name, site in self.crew.sites.items():
                lacking = [one for one in self.parties if _lacks(one.placing, name)]
                welcome = site.addresses and site.place.boot != self.barred
                if welcome and lacking and name not in self._preparing:
                    self._preparing.add(name)
                    # Not waited for at the end: it may make an environment that nobody needs then.
                    threading.Thread(
                        target=self._prepare, args=(name, lacking), daemon=True
                    ).start()
            return bool(self._preparing)

    def _prepare(self, name: str, parties: list[Party]) -> None:
        host = self.crew.sites[name].place.host
        try:
            self.look_at(name)
            for one in parties:
                one.prepare(name)
            for one in parties:
                self.join(one.placing, name)  # one that is left is named with the reason
            if any(one.placing.has(name) for one in parties):
                self.crew.say(f"{host} has joined, and takes samples")
        except Exception as error:  # whatever went wrong there
            for one in parties:
                one.placing.leave(name, str(error))
            if any(one in self.parties for one in parties):  # else the command has ended
                self.crew.say(f"{host} has joined, but takes no sample: {error}")
        finally:
            with self._lock:
                self._preparing.discard(name)


def _lacks(placing: Placing, name: str) -> bool:
    return not placing.has(name) and not placing.is_left(name)
