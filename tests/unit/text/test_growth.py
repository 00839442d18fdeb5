"""What the tables of growth say of sizes that were ended or do not work."""

from __future__ import annotations

from observatory.analyze.growth.families import Family
from observatory.store.records.sample import Build, Size
from observatory.text.growth import growth_tables


def size(number: int, status: str = "ok", note: str | None = None, **metrics: float) -> Build:
    of = Size(family="layers", noun="layers", number=number, limit=12.0)
    metrics["graphs_raised"] = float(status in ("raised", "died"))
    return Build.model_validate(
        {"name": f"layers.{number}", "status": status, "note": note, "metrics": metrics, "size": of}
    )


def notes(*builds: Build) -> list[str]:
    family = Family("layers", "layers", False, builds)
    return [
        note for table in growth_tables("NUMBA", {"3.3.8": [family]}) for note in table.footnotes
    ]


def test_sizes_that_do_not_work_are_named_with_the_reason_even_if_no_size_works() -> None:
    assert notes(size(1, "raised", "ValueError:\n no"), size(3, "died")) == [
        "3.3.8, layers: 1 and 3 layers do not work: ValueError: no"
    ]
    works = size(1, python_calls=10.0)
    assert notes(works, size(3, "died")) == ["3.3.8, layers: 3 layers do not work: it died"]


def test_a_size_above_its_limit_is_told_as_that() -> None:
    builds = (*(size(n, cpu_time=float(n)) for n in (1, 3, 5, 9)), size(10, "limited"))
    (told,) = notes(*builds)
    assert told.startswith("3.3.8, layers: 10 layers take more than 12 s of CPU time, the limit;")
