"""Two sets of noisy values: what is called worse, and how rarely for nothing."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import rankdata

from observatory.analyze.chance import FALSE_DISCOVERY_RATE
from observatory.analyze.comparison import noisy
from observatory.store.records.comparison import Ratio


def values(rng: np.random.Generator, n: int = 7, around: float = 0.25, spread: float = 0.02):
    return list(around * np.exp(rng.normal(0, spread, n)))


def judged(base: list[float], head: list[float], floor: float = 0.05) -> str:
    test = noisy.tested(base, head, seed=1, paired=False)
    (q_value,) = noisy.discoveries([("compile_time", test.over_looks)])
    return noisy.conclude(test.ratio, q_value, floor)


def test_seven_a_side_suffice_for_ten_per_cent() -> None:
    rng = np.random.default_rng(1)
    assert judged(values(rng), values(rng, around=0.275)) == "worse"
    assert judged(values(rng, around=0.275), values(rng)) == "better"


def test_equal_values_are_unaffected() -> None:
    rng = np.random.default_rng(2)
    assert judged(values(rng), values(rng)) == "unaffected"


def test_a_sure_change_below_the_minimum_effect_is_no_alarm() -> None:
    rng = np.random.default_rng(3)
    base, head = values(rng, 15, spread=0.002), values(rng, 15, around=0.2575, spread=0.002)
    assert noisy.tested(base, head, 1, paired=False).p_value < 0.001
    assert judged(base, head, floor=0.05) == "unaffected"


def test_wide_values_are_undecided_and_not_unaffected() -> None:
    rng = np.random.default_rng(4)
    assert judged(values(rng, spread=0.2), values(rng, spread=0.2)) == "undecided"


def test_the_test_is_exact_at_seven_a_side() -> None:
    base, head = [1 + i / 100 for i in range(7)], [2 + i / 100 for i in range(7)]
    assert noisy.tested(base, head, 1, paired=False).p_value == pytest.approx(2 / 3432)


@pytest.mark.parametrize("ties", [False, True])
def test_p_is_the_share_of_all_splits_that_are_as_extreme(ties: bool) -> None:
    """With ties, permutations say so; else the exact distribution does."""
    rng = np.random.default_rng(3)
    base, head = rng.uniform(1, 2, 5), rng.uniform(1.2, 2.4, 5)
    if ties:
        head[:2] = base[:2]
    ranks = rankdata([*base, *head])
    sums = [ranks[[*chosen]].sum() for chosen in combinations(range(10), 5)]
    own = ranks[5:].sum()
    sides = (np.mean(np.array(sums) >= own - 1e-9), np.mean(np.array(sums) <= own + 1e-9))
    found = noisy.tested([*base], [*head], 0, paired=False)
    assert found.p_value == pytest.approx(min(1, 2 * min(sides)))


def test_many_values_are_permuted_because_their_exact_distribution_takes_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(noisy, "_permuted", lambda sides, *_: asked.append(len(sides[0])) or 1.0)
    rng = np.random.default_rng(2)
    for number in (noisy._EXACT, noisy._EXACT + 1):
        noisy.tested(values(rng, number), values(rng, number), 1, paired=True, look=1)
    assert asked == [noisy._EXACT + 1] * 2


@pytest.mark.parametrize("ties", ["none", "a zero", "sizes"])
def test_p_of_pairs_is_the_share_of_all_signs_that_are_as_extreme(ties: str) -> None:
    rng = np.random.default_rng(5)
    base = 2.0 ** np.arange(noisy.PAIRED_FROM)  # a drift, which only pairs see through
    head = base * rng.uniform(0.95, 1.2, noisy.PAIRED_FROM)
    if ties == "a zero":
        head[1] = base[1]
    if ties == "sizes":
        base[1:6] = 3.0, 3.0, 3.0, 3.375, 3.375
        head[1:6] = 3.375, 3.375, 3.375, 3.0, 3.0
    differences = np.log(head) - np.log(base)
    sizes = rankdata(np.abs(differences)) * (differences != 0)
    every = np.array([*product((-1, 1), repeat=noisy.PAIRED_FROM)]) @ sizes
    own = (sizes * np.sign(differences)).sum()
    sides = (np.mean(every >= own - 1e-9), np.mean(every <= own + 1e-9))
    found = noisy.tested([*base], [*head], 0, paired=True)
    assert found.p_value == pytest.approx(2 * min(1.0, 2 * min(sides)), rel=1e-6)


def test_one_outlier_does_not_make_an_alarm() -> None:
    base = [0.25, 0.251, 0.249, 0.25, 0.252, 0.248, 0.25]
    assert judged(base, [*base[:-1], 2.5]) != "worse"


def test_one_outlier_does_not_hide_a_change() -> None:
    base = [0.25, 0.251, 0.249, 0.25, 0.252, 0.248, 2.5]
    head = [0.29, 0.291, 0.289, 0.292, 0.288, 0.293, 0.287]
    assert noisy.tested(base, head, 1, paired=False).p_value < 0.05


def test_what_the_machine_does_meanwhile_meets_both_of_a_pair() -> None:
    """A machine that changes its speed by half, again and again: only the pairs tell."""
    rng = np.random.default_rng(6)
    speed = np.exp(rng.normal(0, 0.3, 15))
    base, head = (
        list(around * speed * np.exp(rng.normal(0, 0.01, 15))) for around in (0.25, 0.275)
    )
    apart, together = (noisy.tested(base, head, 1, paired=paired) for paired in (False, True))
    assert apart.p_value > 0.05
    assert together.p_value < 0.001
    assert together.ratio.low < 1.1 < together.ratio.high
    assert together.ratio.high - together.ratio.low < 0.1 * (apart.ratio.high - apart.ratio.low)


def test_the_interval_is_that_of_the_test_which_tells_more() -> None:
    """A machine with two speeds that change between the two of a pair: the pairs tell nothing."""
    rng = np.random.default_rng(8)
    slow = [np.where(rng.random(30) < 0.15, 0.6, 1.0) for _ in range(2)]
    base, head = (
        list(around * speed * np.exp(rng.normal(0, 0.02, 30)))
        for around, speed in zip((40.0, 43.0), slow, strict=True)
    )
    apart, both = (noisy.tested(base, head, 1, paired=paired) for paired in (False, True))
    assert both.ratio == apart.ratio
    assert both.p_value == pytest.approx(2 * apart.p_value)
    assert both.ratio.low > 1


def test_few_pairs_are_compared_by_all_their_values() -> None:
    rng = np.random.default_rng(7)
    base, head = values(rng), values(rng, around=0.275)
    assert noisy.tested(base, head, 1, paired=True) == noisy.tested(base, head, 1, paired=False)


def test_more_cells_ask_for_more_evidence() -> None:
    cells = [("compile_time", p_value) for p_value in [0.01] + [0.5] * 19]
    alone, among = noisy.discoveries(cells[:1])[0], noisy.discoveries(cells)[0]
    assert alone < FALSE_DISCOVERY_RATE < among


def test_all_looks_together_are_one_chance() -> None:
    """A p that is uniform at every look alarms once in twenty cells, whichever look it is."""
    assert sum(1 / times for times in noisy.LOOKS.values()) == pytest.approx(1)
    rng = np.random.default_rng(9)
    for n, times in ((7, 3.25), (12, 3.25), (31, 13.0)):
        base, head = values(rng, n), values(rng, n)
        test = noisy.tested(base, head, 1, paired=False, look=n)
        assert test.over_looks == pytest.approx(min(1, times * test.p_value))


def test_what_was_found_at_one_look_is_not_lost_at_the_next() -> None:
    rng = np.random.default_rng(10)
    base, head = values(rng, 16, spread=0.05), values(rng, 16, 0.265, spread=0.05)
    at_fifteen = noisy.tested(base[:15], head[:15], 1, paired=True)
    further = noisy.tested(base, head, 1, paired=True)
    assert further.over_looks == at_fifteen.over_looks < 13 * further.p_value


def test_cells_of_other_metrics_ask_for_no_more() -> None:
    others = [("peak_rss", 0.5)] * 19
    alone = noisy.discoveries([("compile_time", 0.01)])
    assert noisy.discoveries([*others, ("compile_time", 0.01)])[-1:] == alone
    assert noisy.discoveries([]) == []


def test_the_interval_holds_the_ratio_and_constants_have_no_width() -> None:
    ratio = noisy.tested([2.0] * 7, [3.0] * 7, 1, paired=False).ratio
    assert (ratio.low, ratio.estimate, ratio.high) == pytest.approx((1.5, 1.5, 1.5))
    rng = np.random.default_rng(5)
    ratio = noisy.tested(values(rng), values(rng), 1, paired=False).ratio
    assert ratio.low <= ratio.estimate <= ratio.high


@pytest.mark.parametrize("base", [[1.0], [1.0, 0.0], [1.0, -1.0]])
def test_what_has_no_ratio_is_refused(base: list[float]) -> None:
    with pytest.raises(ValueError, match="two positive values"):
        noisy.tested(base, [1.0, 2.0], 1, paired=False)


def test_a_significant_estimate_above_the_floor_needs_its_interval_above_one() -> None:
    ratio = Ratio(estimate=1.2, low=0.9, high=1.4, confidence=0.95)
    assert noisy.conclude(ratio, 0.001, 0.05) == "undecided"
