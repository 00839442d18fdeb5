"""PYTENSOR_FLAGS as PyTensor reads them: by `shlex`, with a comma between two flags."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

_SPECIAL = re.compile(r"[,#'\"\\]")
_QUOTE = "'"


def flag(name: str, value: str) -> str:
    """Return one of PYTENSOR_FLAGS, quoted where its value would end early.

    >>> flag("floatX", "float32"), flag("blas__ldflags", "-lblas -Wl,-rpath,/lib")
    ('floatX=float32', "blas__ldflags='-lblas -Wl,-rpath,/lib'")
    """
    if _SPECIAL.search(value) is None:
        return f"{name}={value}"
    # A quote ends the quoted part, and stands in quotes of the other kind before the next one.
    return f"{name}='{value.replace(_QUOTE, _QUOTE + chr(34) + _QUOTE + chr(34) + _QUOTE)}'"


def parsed(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and values of PYTENSOR_FLAGS. Raises ValueError where a quote is not closed.

    >>> dict(parsed("floatX=float32, blas__ldflags='-lblas -Wl,-rpath,/lib'"))
    {'floatX': 'float32', 'blas__ldflags': '-lblas -Wl,-rpath,/lib'}
    """
    flags = shlex.shlex(text, posix=True)
    flags.whitespace, flags.whitespace_split = ",", True
    for each in flags:
        name, is_flag, value = each.strip().partition("=")
        if is_flag:
            yield name.strip(), value.strip()
