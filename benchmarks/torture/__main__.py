"""Put PyTensor's caches under faults: `python -m benchmarks.torture`.

This runs in the environment under test and prints one JSON record on stdout (docs/schemas/). It
writes only into a sandbox, which it removes.
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
from pathlib import Path

from ..parent import end_with_parent
from ..sandbox import ENDING, end_once
from ..typed_json import to_json
from .faults import FAULTS
from .making import OTHERS
from .parts import How, append, take
from .workload import CACHES, GRAPHS, Workload

EXIT_DONE = 0


def _other(text: str) -> tuple[str, str]:
    """What an environment has another version of, and its interpreter, from NAME=INTERPRETER."""
    name, _, python = text.partition("=")
    if name not in OTHERS or not python:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {'=, '.join(OTHERS)}=INTERPRETER")
    return name, python


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit status, which `--help` lists.

    ``argv``: the arguments; None: those of this process. Raises SystemExit for wrong usage.
    """
    names = list(dict.fromkeys(fault.name for fault in FAULTS))
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.torture",
        description="Apply faults to PyTensor's disk caches, and print the results as JSON.",
        epilog=f"Exit status: {EXIT_DONE} done, whatever came out; 2 wrong usage.",
    )
    parser.add_argument("--only", action="append", choices=names, metavar="NAME",
                        help="try only this fault; repeatable")  # fmt: skip
    parser.add_argument("--cache", choices=CACHES, help="only this cache")
    parser.add_argument("--steps", type=int, default=How.steps, metavar="N",
                        help="steps of a fault, at most (default %(default)s)")  # fmt: skip
    parser.add_argument("--limit", type=float, default=How.limit, metavar="SECONDS",
                        help="a process hangs that lasts longer (default %(default)g)")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="print the faults and exit")
    parser.add_argument("--end-with-parent", action="store_true",
                        help="clean up and exit when the parent process dies")  # fmt: skip
    parser.add_argument("--other", action="append", type=_other, metavar="NAME=INTERPRETER",
                        help=f"an environment that has another {', '.join(OTHERS)}")  # fmt: skip
    parser.add_argument("--journal", type=Path, metavar="DIRECTORY",
                        help="record each fault here at once, and try none again")  # fmt: skip
    parser.add_argument("--budget", type=float, default=math.inf, metavar="SECONDS",
                        help="leave the faults that take longer to a later run, which finishes "
                             "those that were in progress")  # fmt: skip
    parser.add_argument("--append-to", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--kept", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--live", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--fill", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--pretty", action="store_true", help="indent the record")
    options = parser.parse_args(argv)
    chosen = [
        one for one in FAULTS
        if one.cache in (options.cache or CACHES) and one.name in (options.only or names)
    ]  # fmt: skip
    if options.list:
        print("\n".join(f"{one.cache} {one.name}: {one.what}" for one in chosen))
        return EXIT_DONE
    if options.fill:
        seen = Workload(options.cache).run(GRAPHS)
        return int(bool(seen.raised or seen.wrong))
    others = dict(options.other or ())
    how = How(options.steps, options.limit, others, options.journal, options.budget)
    if options.append_to:
        append(chosen, options.cache, how, options.append_to, options.kept, options.live)
    # A terminated process cleans up like an interrupted one.
    for number in ENDING:
        signal.signal(number, end_once)
    if options.end_with_parent:
        end_with_parent(signal.SIGTERM)
    record = take(chosen, how)
    print(to_json(record, indent=2 if options.pretty else None))
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
