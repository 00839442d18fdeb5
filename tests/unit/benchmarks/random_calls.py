"""Random programs, counted by the tracer and by `sys.setprofile`: run by test_profile.py.

    python random_calls.py FIRST_SEED PROGRAMS
    python random_calls.py threads
    python random_calls.py answers

This needs Python 3.12. It prints a line of JSON for each program on which the two differ. The
programs have functions, generators, coroutines, lambdas and recursion, and exceptions through all
of them; generators are left, thrown into, closed and dropped where they stand.
"""

import dis
import gc
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from observatory.benchmarks.probes.entries import EntryCounter
from observatory.benchmarks.probes.profile import Tracer, profile_of

PRELUDE = """
kept = []
class Stop(Exception):
    pass
def spend(fuel):
    fuel[0] -= 1
    if fuel[0] <= 0:
        raise Stop
class Pause:
    def __await__(self):
        yield
"""


def program(rng):
    """Return the source of a program whose function `main` takes no arguments."""
    number = rng.randint(2, 6)
    kinds = [rng.choice(["plain", "plain", "generator", "coroutine"]) for _ in range(number)]
    parts = [PRELUDE]
    for index, kind in enumerate(kinds):
        lines = [f"{'async ' if kind == 'coroutine' else ''}def f{index}(fuel):", "    spend(fuel)"]
        for _ in range(rng.randint(1, 4)):
            lines += [f"    {line}" for line in statement(rng, kind, kinds)]
        if kind == "generator":
            lines.append("    yield")
        parts.append("\n".join(lines))
    parts.append("def main():\n    fuel = [60]\n    while True:\n        try:")
    for index, kind in enumerate(kinds):
        parts.append("            " + "; ".join(use(index, kind, rng)))
    parts.append("            spend(fuel)")
    parts.append(
        "        except Stop:\n            break\n        except Exception:\n            pass"
    )
    parts.append("    kept.clear()")
    return "\n".join(parts)


def use(index, kind, rng):
    """Return statements that call one function, or make and run what it returns."""
    if kind == "plain":
        return [f"f{index}(fuel)"]
    if kind == "coroutine":
        return [f"c = f{index}(fuel)", "c.send(None)", rng.choice(["c.close()", "kept.append(c)"])]
    return [
        f"g = f{index}(fuel)",
        rng.choice(["next(g)", "list(g)", "sum(1 for _ in g)", "next(g, None)"]),
        rng.choice(["g.close()", "kept.append(g)", "g = None", "next(kept[0], None)",
                    "g.throw(ValueError)", "pass"]),
    ]  # fmt: skip


def statement(rng, kind, kinds):
    """Return the lines of one statement in a function of a kind."""
    index = rng.randrange(len(kinds))
    call = "; ".join(use(index, kinds[index], rng))
    choices = [
        [call],
        ["try:", f"    {call}", "except ValueError:", "    spend(fuel)"],
        ["try:", f"    {call}", "finally:", "    (lambda: spend(fuel))()"],
        ["if fuel[0] % 3 == 0:", "    raise ValueError"],
        ["sum(len([i]) for i in range(2))"],
        ["for one in list(kept):", "    next(one, None) if hasattr(one, '__next__') else None"],
        ["sorted([2, 1], key=lambda i: -i)"],
    ]
    if kind == "generator":
        choices += [["yield 1"], ["try:", "    yield 2", "finally:", "    (lambda: None)()"]] * 2
        if kinds[index] == "generator":
            choices.append([f"yield from f{index}(fuel)"])
    if kind == "coroutine":
        choices.append(["await Pause()"])
        if kinds[index] == "coroutine":
            choices.append([f"await f{index}(fuel)"])
    return rng.choice(choices)


def by_tracer(main):
    """Return the entries of each chain of names below the caller of ``main``."""
    tracer, counts = Tracer(), []
    with tracer.counting_calls(counts):
        main()
    tree = profile_of(tracer.roots, kept_share=0.0, most_nodes=10**9).tree
    names = [name for names in tree.modules.values() for name in names]
    found, chain = Counter(), []
    for depth, function, count in zip(tree.depths, tree.functions, tree.counts, strict=True):
        del chain[depth:]
        chain.append(names[function])
        found[tuple(chain[1:])] += count
    assert counts[0] == tree.calls == sum(found.values())
    return Counter({c: n for c, n in found.items() if n and not c[0].endswith("__exit__")})


@cache
def start(code):
    """Return where a function is when it is entered, and not resumed."""
    return next(one.offset for one in dis.get_instructions(code) if one.opname == "RESUME")


def by_setprofile(main):
    """Return the same, from each frame's own chain of frames."""
    found = Counter()
    outer = sys._getframe()

    def profiler(frame, event, _):
        if event != "call" or frame.f_lasti != start(frame.f_code):
            return
        chain, last = [], None
        while frame is not None and frame is not outer:
            if frame.f_code is not last:
                chain.append(frame.f_code.co_qualname)
                last = frame.f_code
            frame = frame.f_back
        found[tuple(reversed(chain))] += 1

    sys.setprofile(profiler)
    try:
        main()
    finally:
        sys.setprofile(None)
    return found


def run():
    first, number = int(sys.argv[1]), int(sys.argv[2])
    gc.disable()
    for seed in range(first, first + number):
        source = program(random.Random(seed))
        results = []
        for count in (by_tracer, by_setprofile):
            names = {"__name__": ""}
            exec(compile(source, "program", "exec"), names)
            results.append(count(names["main"]))
        traced, profiled = results
        if traced != profiled:
            print(
                json.dumps(
                    {
                        "seed": seed,
                        "source": source,
                        "only traced": {str(k): v for k, v in (traced - profiled).items()},
                        "only profiled": {str(k): v for k, v in (profiled - traced).items()},
                    }
                )
            )
    print(json.dumps({"programs": number, "entries": sum(traced.values())}))


def threads():
    """Print how often two threads entered a function of their own, and one of each other's."""

    def left(depth):
        if depth:
            left2(depth - 1)

    def left2(depth):
        time.sleep(0)  # the other thread's turn
        left(depth)

    def right(depth):
        if depth:
            right2(depth - 1)

    def right2(depth):
        time.sleep(0)
        right(depth)

    sys.setswitchinterval(1e-6)
    tracer, counts = Tracer(), []
    with tracer.counting_calls(counts):
        started = [
            threading.Thread(target=lambda one=one: [one(9) for _ in range(200)])
            for one in (left, right)
        ]
        for one in started:
            one.start()
        for one in started:
            one.join()
    found = dict.fromkeys(("left", "left right", "right", "right left"), 0)
    waiting = [("", root) for root in tracer.roots]
    while waiting:
        side, node = waiting.pop()
        own = next((one for one in ("left", "right") if f"threads.<locals>.{one}" in node.name), "")
        if node.name.endswith(f".{own}") and own:
            found[own] += node.entries
        if side and own and side != own:
            found[f"{side} {own}"] += node.entries
        waiting.extend((own or side, below) for below in node.values())
    print(json.dumps(found))


def answers():
    """Count the calls that it takes to read an answer that comes in one piece, or in forty."""
    found = {}
    for counter in (Tracer, EntryCounter):
        for pieces in (1, 40):
            each = 4000 // pieces
            told = f"for _ in {{1..{pieces}}}; do printf '%{each}s' x >&2; sleep 0.002; done"
            process = subprocess.Popen(
                ["bash", "-c", told], stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            counts = []
            with counter().counting_calls(counts):
                _, said = process.communicate()
            found[f"{counter.__name__} {pieces}"] = [len(said), counts[0]]
    print(json.dumps(found))


if __name__ == "__main__":
    sys.setrecursionlimit(5000)
    {"threads": threads, "answers": answers}.get(sys.argv[1], run)()
