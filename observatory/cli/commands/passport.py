"""`observatory passport`: a key for a store of caches, and whether a cache may be used here."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from observatory.app.passports import judged, known_of, passport_of, shipped
from observatory.cli import options
from observatory.cli.output import name_broken, say
from observatory.errors import Exit, SelectionError
from observatory.guard.passports import USES, Known, Ruling, restorable
from observatory.run.readers import python_here
from observatory.store.records import passport as record
from observatory.store.records.passport import Passport


def command(
    directory: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR",
            help="Say whether this cache may be used here: PyTensor's base_compiledir.",
            show_default=False,
        ),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="The Python that uses the cache, by its path. Default: `python`."
        ),
    ] = None,
    stamp: Annotated[
        bool,
        options.flag(
            "--stamp",
            "If DIR may be used here, record in it that this environment uses it. Run this before "
            "the first build.",
        ),
    ] = False,
    accept_collisions: Annotated[
        bool,
        options.flag(
            "--accept-collisions",
            "Also allow a release that gives some different graphs one key; it does so with any "
            "cache.",
        ),
    ] = False,
    results: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Also use what was measured in this directory.", show_default=False
        ),
    ] = None,
    github: Annotated[
        bool,
        options.flag("--github", "Print `key` and `restore-keys` for $GITHUB_OUTPUT."),
    ] = False,
    json: options.Json = False,
) -> None:
    """Print a key under which CI can store a cache, or say whether a cache may be used here.

    The key names everything that PyTensor and numba compile for. A cache may be used if the
    measurements of all environments that filled it show that it is safe; what was not measured is
    not safe.
    """  # fmt: skip
    if results is not None:
        name_broken(results)
    reader = python_here(python)
    here = passport_of(reader)
    if directory is None:
        if stamp:
            raise SelectionError("--stamp needs the directory of the cache: name it as DIR")
        known = _known(results)
        keys = [f"{here.key_of(one)}-" for one in restorable(here, known, accept_collisions)]
        _print_keys(here, keys, github=github, json=json)
        return
    if github:
        raise SelectionError("--github prints the key: leave out DIR")
    ruling = judged(directory, here, reader, _known(results))
    allowed = ruling.allowed(accept_collisions)
    _print_ruling(directory, ruling, allowed, json=json)
    if not allowed:
        raise typer.Exit(Exit.UNSAFE_CACHE)
    if stamp:
        record.stamp(directory, here)


def _known(results: Path | None) -> Known:
    return shipped() if results is None else known_of(results).beside(shipped())


def _print_keys(here: Passport, keys: list[str], *, github: bool, json: bool) -> None:
    if json:
        say(json_module.dumps({"key": here.key, "restore_keys": keys, **here.model_dump()}))
    elif github:
        say(f"key={here.key}")
        say("restore-keys<<END_OF_KEYS", *keys, "END_OF_KEYS")
    else:
        say(_told(here))
        say(f"key           {here.key}")
        for key in keys:
            say(f"restore-keys  {key}")
        if not keys:
            say("restore-keys  none: no measurement shows that an older cache is safe")


def _told(here: Passport) -> str:
    words = [f"PyTensor {here.pytensor}", f"Python {here.python}"]
    words += [f"numba {here.numba} for {here.processor}"] if here.numba else []
    words += [f"C++ compiler {here.compiler}"] if here.compiler else ["no C++ compiler"]
    words += [f"{name}={value}" for name, value in here.settings.items()]
    return ", ".join(words)


def _print_ruling(directory: Path, ruling: Ruling, allowed: bool, *, json: bool) -> None:
    if json:
        say(json_module.dumps({"use": ruling.use, "reasons": ruling.reasons}))
        return
    say(f"{directory}: {ruling.use}: {USES[ruling.use]}")
    for reason in ruling.reasons:
        say(f"  {reason}")
    if allowed:
        say("It may be used here.")
    elif ruling.use == "collides":
        say("It may be used here with --accept-collisions, if you have no such graphs.")
    else:
        say("It must not be used here: delete it, or use another one.")
