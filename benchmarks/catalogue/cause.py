"""The record of a cause, and the metrics that several causes have."""

from __future__ import annotations

from dataclasses import dataclass

OF_A_CACHE = ("cache_misses", "uncacheable", "reuse_lost")
"""The metrics in which a defect of a cache shows."""
OF_WORK = ("python_calls", "instructions", "llvm_pass_runs")
"""The metrics of work. Where one of them is known, time only tells what a user feels of it."""
FOLLOWS_FROM_A_CACHE = (
    *OF_A_CACHE, *OF_WORK, "compiler_runs", "compile_time", "files_leaked",
    "peak_rss", "retained_bytes", "files_grown", "bytes_grown", "waiting_time",
)  # fmt: skip
"""The metrics that may get worse because of such a defect."""


@dataclass(frozen=True)
class Cause:
    """One kind of cause."""

    name: str
    sentence: str
    """What happens, without a full stop. {they} becomes "3 functions"; {miss}, {are}, {them},
    {their_keys}, {work}, {fail}, {have} and {share} agree with it; {base} and {head} are the names
    of the two sides, and {family[0]} distinguishes two causes of this kind. Empty: the sentence is
    made from the samples."""
    advice: str
    """Where a contributor to PyTensor looks first: sentences that follow "Next: "."""
    shows_in: tuple[str, ...] = OF_A_CACHE
    """The metrics that reveal it."""
    explains: tuple[str, ...] = FOLLOWS_FROM_A_CACHE
    """The metrics that get worse because of it; in its cells they raise no alarm of their own."""
    found_by: str = ""
    """The metric whose worsening is this cause, regardless of single functions."""
    title: str = ""
    """What readers see as its heading: a phrase that "since 3.3.8" can follow. Empty: its name."""
    noun: str = "function"
    """What {they} counts, in the singular: functions, or graphs of a model."""
    counted: bool = False
    """Whether the metric that finds it counts exactly that: its rise is then the number in {they}
    where no names are known."""
    first: bool = False
    """Whether it comes before all others, which are sorted by the seconds lost."""
    a_consequence: bool = False
    """Whether it is no cause beside another one in its cell that explains what it shows in: every
    recompilation, for example, brings more Python work."""
    loses_reuse: bool = False
    """Whether it also explains functions that are not reused."""
    of_keys: bool = False
    """Whether a whole graph has it because one of its Ops does: its key is made of theirs."""
    deliberate: bool = False
    """Whether somebody decided it: it is told as an event, and waits for nobody."""
    cautious: str = ""
    """The sentence where what ``sentence`` says beside the metric is not known in every cell."""
    apart_by_text: bool = False
    """Whether different sentences are different causes, as for errors."""

    @property
    def names_functions(self) -> bool:
        """Whether its sentence has functions or numbers in it."""
        return not self.sentence or any(part in self.sentence for part in ("{they}", "{family"))


HEADLINE_TIMES = ("compile_time", "call_time")
COSTS = ("python_calls", "instructions", *HEADLINE_TIMES)
"""What builds and calls cost, as work and as time. LLVM's work is a part of it, which other work
does not explain."""
