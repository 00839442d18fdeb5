"""Commits of a range, ranked by what they touch."""

from __future__ import annotations

from datetime import UTC, datetime

from observatory.analyze.history.suspects import Commit, names_in, ranked
from observatory.analyze.statements import Statement
from observatory.store.records.alerts import At, Change, SeriesChange
from observatory.store.records.comparison import FunctionChange
from observatory.store.records.profile import PartChange
from observatory.text.statements import sentence_of

DAY = datetime(2026, 5, 4, tzinfo=UTC)
AT = At(label="3.0.0", commit="a" * 40, date=DAY)


def commit(title: str, *files: str) -> Commit:
    return Commit(title.ljust(40, "0"), "Ada", DAY, title, None, files)


def change(benchmark: str = "radon variants NUMBA fork", *names: str) -> Change:
    told = SeriesChange(
        machine="m", env_name="e", benchmark=benchmark, metric="reuse_lost", unit="functions",
        kind="exact", before=0, after=1, now=1, last_good=AT, first_bad=AT, newest=AT, holds=True,
    )  # fmt: skip
    functions = [
        FunctionChange(name=name, count=1, base="hit", head="miss", seconds=1.0) for name in names
    ]
    return Change(
        id="a" * 10, kind="not reused", sentence="1 function misses", last_good=AT, first_bad=AT,
        between=0, series=[told], functions=functions,
    )  # fmt: skip


def test_a_commit_that_changes_what_defines_the_function_comes_first() -> None:
    found = ranked(
        change("radon variants NUMBA fork", "Join{axis=0}"),
        [
            commit("docs", "doc/index.rst", "tests/test_join.py"),
            commit("other", "pytensor/scan/op.py"),
            commit("linker", "pytensor/link/numba/dispatch/basic.py"),
            commit("join", "pytensor/tensor/basic.py"),
        ],
        {"Join": ("pytensor/tensor/basic.py",)},
    )
    assert [one.commit.title for one in found] == ["join", "linker", "other", "docs"]
    assert found[0].defines == (("pytensor/tensor/basic.py", "Join"),)
    assert found[-1].idle


def test_a_name_that_many_files_define_points_at_none() -> None:
    one = change("radon variants C fork", "pytensor.link.numba.perform")
    assert names_in(one) == ["perform"]
    files = tuple(f"pytensor/{n}.py" for n in range(9))
    (found,) = ranked(one, [commit("x", *files)], {"perform": files})
    assert found.weight == 0


def test_the_phase_in_which_work_grew_is_no_name() -> None:
    phase = PartChange(kind="phase", name="rewriting", base=10, head=18, calls=8, share=1.0)
    part = PartChange(kind="function", name="pytensor.graph.traversal:walk", base=10, head=18,
                      calls=8, share=1.0, replaces="pytensor.graph.basic:walk")  # fmt: skip
    begins = Statement("work began", (part, phase))
    told = change().model_copy(update={"sentence": f"more calls; {sentence_of(begins)}"})
    assert names_in(told) == ["walk"]
    title = "Fix typos about rewriting in the tutorial"
    (found,) = ranked(told, [commit(title, "pytensor/printing.py")], {})
    assert found.weight == 0


def test_of_other_projects_files_named_like_the_benchmark_are_suspected() -> None:
    both = [commit("a", "numba/typing/x.py"), commit("b", "numba/cuda/devicearray.py")]
    found = ranked(change("bench_cuda_numba.Suite.time_it"), both, {})
    assert [one.commit.title for one in found] == ["b", "a"]
    assert found[0].areas == ("cuda",)
