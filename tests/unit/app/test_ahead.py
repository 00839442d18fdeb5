"""What is prepared while something else is measured, and what is not."""

from __future__ import annotations

from threading import Event, Thread

from observatory.app.ahead import Ahead
from observatory.store.records.subject import Subject
from tests.factories import subject

ONE, OTHER, THIRD = (subject(label) for label in ("1.0", "2.0", "3.0"))


class Workshop:
    """Prepares subjects; each begins at once, and ends when it may."""

    def __init__(self) -> None:
        self.begun: list[Subject] = []
        self.first_began, self.may_end = Event(), Event()

    def prepare(self, one: Subject) -> None:
        self.begun.append(one)
        self.first_began.set()
        assert self.may_end.wait(timeout=60)


def test_both_are_prepared_in_their_order() -> None:
    shop = Workshop()
    shop.may_end.set()
    ahead = Ahead(shop.prepare)
    ahead.begin([ONE, OTHER])
    for future in ahead._wanted:
        future.result()
    ahead.end()
    assert shop.begun == [ONE, OTHER]


def test_what_is_no_longer_wanted_and_has_not_begun_is_left_out() -> None:
    shop = Workshop()
    ahead = Ahead(shop.prepare)
    ahead.begin([ONE, OTHER])
    assert shop.first_began.wait(timeout=60)
    ahead.begin([THIRD])
    shop.may_end.set()
    for future in ahead._wanted:
        future.result()
    ahead.end()
    assert shop.begun == [ONE, THIRD]


def test_at_the_end_only_the_one_that_has_begun_is_finished() -> None:
    shop, cancelled = Workshop(), Event()
    ahead = Ahead(shop.prepare)
    ahead.begin([ONE, OTHER])
    ahead._wanted[1].add_done_callback(lambda _: cancelled.set())
    assert shop.first_began.wait(timeout=60)
    ending = Thread(target=ahead.end)
    ending.start()
    assert cancelled.wait(timeout=60)
    shop.may_end.set()
    ending.join()
    assert shop.begun == [ONE]
