"""A uv that answers from a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence


class FakeUv:
    """Records what it was asked and answers with what ``answer`` returns for it."""

    def __init__(self, answer: Callable[[tuple[str, ...], str], str]) -> None:
        self.answer = answer
        self.asked: list[tuple[tuple[str, ...], str]] = []

    def __call__(
        self, *args: str, stdin: str = "", timeout: float = 600.0, held: Sequence[int] = ()
    ) -> str:
        self.asked.append((args, stdin))
        return self.answer(args, stdin)


def option(args: tuple[str, ...], name: str) -> str | None:
    return args[args.index(name) + 1] if name in args else None
