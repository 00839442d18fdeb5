/* The ledgers of two subjects compared, without a page: as multisets of name and outcome. */
"use strict";

observatory.ledger = (() => {
  const OUTCOMES = ["hit", "miss", "uncacheable", "internal"];
  const CHANGES = new Map([
    ["stopped", ["Stopped hitting", "the cache returned them in A, but B compiles them"]],
    ["began", ["Began to hit", "A compiled them, but the cache returns them in B"]],
    ["otherwise", ["Stored differently", "one cache stores them, the other refuses"]],
    ["appeared", ["Appeared", "B has more of them"]],
    ["vanished", ["Vanished", "B has fewer of them"]],
    ["same", ["The same", "equally often, with the same outcomes"]],
    ["internal", ["Internal", "compiled without a lookup in a cache"]],
  ]);
  const CALM = ["same", "internal"];
  const empty = () => Object.fromEntries(OUTCOMES.map((one) => [one, [0, 0, 0]]));

  /** Number, seconds and bytes by outcome, of each function of a cell. */
  function functions(ledger, cell) {
    const found = new Map();
    for (const [at, outcome, ...numbers] of ledger.cells[cell]) {
      const name = ledger.names[at];
      if (!found.has(name)) found.set(name, empty());
      const sum = found.get(name)[outcome];
      numbers.forEach((value, i) => { if (sum) sum[i] += value ?? 0; });
    }
    return found;
  }

  function becameOf(a, b) {
    const more = (outcome) => b[outcome][0] - a[outcome][0];
    const asked = OUTCOMES.slice(0, 3), hits = more("hit"), internal = more("internal");
    if (asked.every((outcome) => more(outcome) === 0)) {
      return internal === 0 && asked.some((outcome) => a[outcome][0]) ? "same" : "internal";
    }
    const compiled = more("miss") + more("uncacheable");
    // What no longer asks a cache has stopped hitting it, too.
    if (hits < 0 && (compiled > 0 || internal > 0)) return "stopped";
    if (hits > 0 && (compiled < 0 || internal < 0)) return "began";
    return hits + compiled > 0 ? "appeared" : hits + compiled < 0 ? "vanished" : "otherwise";
  }

  /** The functions of a cell by what became of them; those that took longest first. */
  function differences(ledgers, cell) {
    const [a, b] = ledgers.map((ledger) => functions(ledger, cell));
    const found = new Map([...CHANGES.keys()].map((group) => [group, []]));
    const spent = (side) => OUTCOMES.reduce((sum, outcome) => sum + side[outcome][1], 0);
    for (const name of new Set([...a.keys(), ...b.keys()])) {
      const row = { name, a: a.get(name) ?? empty(), b: b.get(name) ?? empty() };
      row.weight = Math.max(spent(row.a), spent(row.b));
      found.get(becameOf(row.a, row.b)).push(row);
    }
    for (const own of found.values()) {
      own.sort((one, other) => other.weight - one.weight || (one.name < other.name ? -1 : 1));
    }
    return found;
  }

  /** By cell the functions that stopped hitting, of the cells that both have. */
  function stopped(ledgers) {
    const [before, after] = ledgers.map((ledger) => ledger.cells);
    const cells = Object.keys(after).filter((cell) => Object.hasOwn(before, cell));
    const found = cells.map((cell) => [cell, differences(ledgers, cell).get("stopped")]);
    return new Map(found.filter(([, own]) => own.length)
      .map(([cell, own]) => [cell, own.map((row) => row.name)]));
  }

  /** How many functions of a cell differ. */
  function differing(found) {
    const differ = [...found].filter(([group]) => !CALM.includes(group));
    return differ.reduce((sum, [, own]) => sum + own.length, 0);
  }

  return { CHANGES, CALM, OUTCOMES, differences, differing, stopped };
})();
