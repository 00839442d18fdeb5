"""Whether an environment may use a cache, by what was measured of the environments that filled it.

Nothing is called safe that was not measured: what no measurement covers is `unknown`. An entry that
PyTensor or numba refuses to load does no harm: the cache is then `rebuilt`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from packaging.version import Version
from pydantic import Field

from observatory.benchmarks.catalogue import BACKENDS, CACHES
from observatory.benchmarks.flags import parsed
from observatory.guard.caches.entries import Origin
from observatory.guard.caches.judging import Report
from observatory.store.base.record import Record
from observatory.store.records.passport import Passport
from observatory.store.records.upgrades import Part, Side, Upgrade

Use: TypeAlias = Literal["wrong", "stale", "unknown", "collides", "rebuilt", "safe"]
Kind: TypeAlias = Literal["numba", "C"]

USES: Final[dict[Use, str]] = {
    "wrong": "a process that uses the cache returns wrong numbers",
    "stale": "it returns the numbers of the version that filled the cache",
    "unknown": "no measurement shows that the cache is safe",
    "collides": "some different graphs have one key: one returns the numbers of the other",
    "rebuilt": "nothing in the cache is loaded; everything is compiled again",
    "safe": "what is loaded returns the numbers of an empty cache",
}
"""What may happen to whoever uses a cache; the worst comes first."""

KINDS: Final[dict[str, Kind]] = {
    one.name: kind
    for kind in get_args(Kind)
    for one in BACKENDS.values()
    if CACHES.get(one.cache) == kind and not one.filled_by
}
"""The kind of cache that a backend fills."""


class Fact(Record):
    """What was measured of one environment on the cache of another one, or on its own."""

    kind: Kind
    base: str = Field(description="PyTensor that filled the cache")
    head: str = Field(description="PyTensor that used it; equal to base: its own cache")
    numba: str = Field("", description="of both, where the cache is numba's")
    base_settings: dict[str, str] = Field(
        {}, description="what changes code, on top of the default"
    )
    head_settings: dict[str, str] = Field({}, description="the same for head")
    use: Use
    names: list[str] = Field([], description="graphs that were wrong or stale")


class Known(Record):
    """Everything that was measured: the facts, each once."""

    facts: list[Fact] = Field(max_length=100_000)

    def beside(self, other: Known) -> Known:
        """Return what either knows; where both know a pair, the worse of the two."""
        return Known(facts=worst_of([*self.facts, *other.facts]))

    def on(self, kind: Kind, base: Passport, head: Passport) -> Fact | None:
        """Return what was measured of ``head`` on the cache of ``base``; the worst, if twice."""
        numba = head.numba if kind == "numba" else ""
        found = [
            fact
            for fact in self.facts
            if (fact.kind, fact.base, fact.head, fact.numba)
            == (kind, base.pytensor, head.pytensor, numba)
            and (fact.base_settings, fact.head_settings) == (base.settings, head.settings)
        ]
        return min(found, key=lambda fact: _RANK[fact.use], default=None)


_RANK = {use: rank for rank, use in enumerate(USES)}


@dataclass(frozen=True)
class Ruling:
    """Whether an environment may use a cache, and the reasons, the worst first."""

    use: Use
    reasons: tuple[str, ...]

    def allowed(self, accept_collisions: bool = False) -> bool:
        """Whether nothing in the cache can change a number, as far as the user did not accept it.

        ``accept_collisions``: graphs that the release itself confuses are accepted; each release so
        far confuses some, with any cache.
        """
        return self.use in _allowed(accept_collisions)


def _allowed(accept_collisions: bool) -> tuple[Use, ...]:
    return ("safe", "rebuilt", "collides") if accept_collisions else ("safe", "rebuilt")


def rule(here: Passport, used_by: Sequence[Passport], report: Report, known: Known) -> Ruling:
    """Judge a cache that the environments ``used_by`` have filled, for the environment ``here``.

    ``report``: what is in the cache, as `observatory cache` finds it for this environment alone.
    """
    found = sorted(_claims(here, used_by, report, known), key=lambda claim: _RANK[claim[0]])
    reasons = dict.fromkeys(reason for use, reason in found if use == found[0][0])
    return Ruling(found[0][0], tuple(reasons))


def _claims(
    here: Passport, used_by: Sequence[Passport], report: Report, known: Known
) -> Iterator[tuple[Use, str]]:
    shared = (one.origin for one in report.groups if one.state in ("collided", "vulnerable"))
    if any(_may_load(report, origin) for origin in shared):
        yield "wrong", "functions in it share a symbol, or could (`observatory cache` names them)"
    if report.has("broken"):
        yield "unknown", "a file in it is broken, and PyTensor may raise an error when it loads it"
    kinds = {group.origin.kind for group in report.groups if group.state == "usable"}
    if not kinds:
        yield "rebuilt", f"nothing in it fits {_fits(here)}"
        return
    if not used_by:
        yield "unknown", "it does not say which PyTensor filled it"
    for kind in sorted(kinds):
        fillers = [base for base in used_by if not _refused(kind, base, here)]
        if used_by and not fillers:
            yield (
                "unknown",
                "none of the environments that it names can have written what fits here",
            )
        for base in fillers:
            yield from _claims_of(kind, base, here, known)


def _may_load(report: Report, origin: Origin) -> bool:
    """Whether one of the Pythons loads entries of this origin; as far as nobody was asked, yes."""
    return not report.readers or any(not one.obstacle(origin) for one in report.readers)


def _claims_of(
    kind: Kind, base: Passport, here: Passport, known: Known
) -> Iterator[tuple[Use, str]]:
    """What is known of each of the two on its own cache, and of one on the other's."""
    yield _claim(kind, here, here, known)
    if base != here:
        yield _claim(kind, base, base, known)
        yield _claim(kind, base, here, known)


def _claim(kind: Kind, base: Passport, here: Passport, known: Known) -> tuple[Use, str]:
    fact = known.on(kind, base, here)
    if fact is not None:
        return fact.use, f"{_between(kind, base, here)}: {USES[fact.use]}" + _named(fact.names)
    return "unknown", f"{_between(kind, base, here)} was never measured"


def _refused(kind: Kind, base: Passport, here: Passport) -> bool:
    """Whether numba or PyTensor loads nothing of another environment, whatever it contains."""
    if kind == "numba":
        mine, other = ((one.numba, one.minor, one.machine) for one in (here, base))
        return mine != other
    mine_c, other_c = ((one.python, one.numpy_abi, one.compiler) for one in (here, base))
    return mine_c != other_c


def _between(kind: Kind, base: Passport, here: Passport) -> str:
    numba = f" with numba {here.numba}" if kind == "numba" else ", C modules"
    if base == here:
        return f"PyTensor {here.pytensor}{_set(here)}{numba} on its own cache"
    return (
        f"PyTensor {here.pytensor}{_set(here)}{numba} on the cache of {base.pytensor}{_set(base)}"
    )


def _set(passport: Passport) -> str:
    told = ",".join(f"{name}={value}" for name, value in passport.settings.items())
    return f" ({told})" if told else ""


def _fits(here: Passport) -> str:
    numba = f", numba {here.numba}" if here.numba else ""
    return f"Python {here.python}{numba} and this processor"


def _named(names: Sequence[str]) -> str:
    return f" ({', '.join(names[:5])}{', ...' * (len(names) > 5)})" if names else ""


def restorable(here: Passport, known: Known, accept_collisions: bool = False) -> list[str]:
    """Return the releases whose caches this environment may use, its own first, then the newest.

    Each was measured with every kind of cache: on its own cache, and this environment on theirs.
    """
    kinds = [*(("numba",) if here.numba else ()), *(("C",) if here.compiler else ())]
    others = {fact.base for fact in known.facts if fact.head == here.pytensor} - {here.pytensor}

    def allowed(pytensor: str) -> bool:
        base = here.model_copy(update={"pytensor": pytensor})
        uses = {use for kind in kinds for use, _ in _claims_of(kind, base, here, known)}
        return bool(uses) and uses <= {*_allowed(accept_collisions)} - {"rebuilt"}

    return [
        here.pytensor, *sorted(filter(allowed, others), key=Version, reverse=True)
    ] if allowed(here.pytensor) else []  # fmt: skip


def use_of(part: Part) -> Use:
    """What a cache did to one model; unknown if that was not measured whole."""
    if part.failure or not part.built:
        return "unknown"
    if part.wrong_by_cache:
        return "wrong"
    if part.stale:
        return "stale"
    return "safe" if part.reused else "rebuilt"


def worst_use(uses: Iterable[Use]) -> Use:
    """What a cache did to several models: rebuilt only if it was to each; else the worst."""
    found = set(uses)
    return min(found - {"rebuilt"}, key=_RANK.__getitem__, default="rebuilt")


def fact_of(upgrade: Upgrade, part: Part) -> Fact | None:
    """What one part of an upgrade shows; None if it shows nothing that decides.

    numba and PyTensor load nothing of another numba, Python or CPU.
    """
    use, kind = use_of(part), KINDS[part.backend]
    base, head = upgrade.base, upgrade.head
    if base.versions.python != head.versions.python or base.cpu != head.cpu:
        return None
    if kind == "numba" and base.versions.numba != head.versions.numba:
        return None
    own = base.versions.pytensor == head.versions.pytensor and _settings(base) == _settings(head)
    if own and use not in ("wrong", "stale"):  # siblings and pairs decide on its own cache
        return None
    return Fact(
        kind=kind, base=base.versions.pytensor, head=head.versions.pytensor,
        numba=(head.versions.numba or "") if kind == "numba" else "",
        base_settings=_settings(base), head_settings=_settings(head), use=use, names=part.changed,
    )  # fmt: skip


def _settings(side: Side) -> dict[str, str]:
    return dict(sorted(parsed(side.flags or "")))


def worst_of(facts: Iterable[Fact]) -> list[Fact]:
    """One fact for each pair: the models of one pair are judged together.

    A pair is rebuilt only if each model was; one that loaded and was right is safe.
    """
    united: dict[str, list[Fact]] = {}
    for fact in facts:
        pair = fact.model_copy(update={"use": "safe", "names": []}).model_dump_json()
        united.setdefault(pair, []).append(fact)
    merged = []
    for own in united.values():
        use = worst_use(fact.use for fact in own)
        names = sorted({name for fact in own for name in fact.names})
        merged.append(own[0].model_copy(update={"use": use, "names": names}))
    return merged
