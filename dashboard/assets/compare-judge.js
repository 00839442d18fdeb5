/* What two subjects come to, without a page. Whether a time changed was decided when the site was
   built, as levels of its series; here levels are looked up and counts compared. */
"use strict";

observatory.judge = (() => {
  const { count, change, relative } = observatory.units;
  const { shorten, several, effect, exact, code, prose, FIRST } = observatory.words;
  const LONGEST_COMMENT = 60000; // GitHub takes 65,536 characters
  const LONGEST_NAME = 160;
  const LONGEST_LABEL = 80;
  const OUTCOMES = ["hit", "miss", "uncacheable", "internal"];

  /** Groups of rows in their order: the checkbox that hides them, their title, what it says. */
  const GROUPS = new Map([
    ["wrong", ["worse", "Wrong results", "values that are off the reference"]],
    ["crashed", ["worse", "Crashes", "the measured process raised, died or hung"]],
    ["standing", ["", "Wrong or crashing in both", "no change, and no peace"]],
    ["counts", ["worse", "Counts that got worse", "exact, no threshold"]],
    ["measured", ["worse", "Slower or larger",
      "levels of their series; small, what was measured of these two"]],
    ["better", ["better", "Better", "counts first"]],
    ["workload", ["described", "Workload changed, no alarm", "what follows from the graph"]],
    ["described", ["described", "Only described", "these metrics are not judged"]],
    ["unconfirmed", ["not judged", "Not confirmed",
      "far off its level in one of the two, with too few subjects around it to tell a step"]],
    ["unjudged", ["not judged", "Not judged", "the page of each series says why"]],
    ["unaffected", ["unaffected", "Unaffected", "no change seen between them"]],
    ["lostA", ["", "Missing in A", "only B has a value"]],
    ["lostB", ["", "Missing in B", "only A has a value"]],
  ]);
  const FOLDED = ["unconfirmed", "workload", "described", "unjudged", "unaffected", "lostA", "lostB"];
  const PLACE = new Map([...GROUPS.keys()].map((group, i) => [group, i]));

  const label = (subject) => ({ name: shorten(subject.label, LONGEST_LABEL) });
  const isWorse = (row) => GROUPS.get(row.group)[0] === "worse";
  const sort = (row) => ({ seconds: "times", bytes: "memory" }[row.unit] ?? "counts");
  const changeOf = (row) => change(row.from ?? row.base, row.to ?? row.head, row.unit);

  /* Rows */

  function counted(row) {
    const place = FIRST.indexOf(row.metric);
    if (row.head === row.base) {
      const standing = (place === 0 || place === 1) && row.head > 0;
      return standing ? { group: "standing", words: "the same in both" }
        : { group: "unaffected", words: "the same" };
    }
    const group = row.head < row.base ? "better" : ["wrong", "crashed"][place] ?? "counts";
    return { group, words: exact(row), weight: Math.abs(row.head - row.base) };
  }

  function levelled(row, [from, to], off, smallest) {
    const ratio = to / from, weight = Math.max(ratio, 1 / ratio);
    if (weight - 1 < smallest) {
      if (off && row.base > 0 && row.head > 0) return unconfirmed(row);
      return { group: "unaffected", words: "no change seen between them" };
    }
    const group = ratio > 1 ? "measured" : "better";
    const share = relative(ratio, row.unit === "seconds");
    return { group, words: effect(row, ratio), weight, share, from, to };
  }

  function unconfirmed(row) {
    const ratio = row.head / row.base, share = relative(ratio, row.unit === "seconds");
    const words = `${effect(row, ratio)}, not confirmed`;
    return { group: "unconfirmed", words, weight: Math.max(ratio, 1 / ratio), share };
  }

  function described(row) {
    if (row.base === row.head) return { group: "unaffected", words: "the same" };
    if (row.kind === "exact") {
      return { group: "workload", words: effect(row), weight: Math.abs(row.head - row.base) };
    }
    const ratio = row.head / row.base, weight = Math.max(ratio, 1 / ratio);
    if (row.kind !== "near_exact") {
      return { group: "described", words: "it describes and is not judged", weight };
    }
    return { group: "workload", words: effect(row, ratio), weight, share: relative(ratio, false) };
  }

  function judged(row, judgement, alerting, levels, off, { why, smallest }) {
    if (row.kind === "exact") return alerting ? counted(row) : described(row);
    if (row.kind === "near_exact") return described(row);
    if (why) return { group: "unjudged", words: `not compared: ${why}` };
    if (judgement === "described") return described(row);
    const whole = judgement === "judged" && levels.every((one) => one != null);
    return whole ? levelled(row, levels, off, smallest)
      : { group: "unjudged", words: "not judged" };
  }

  /** A row for each series with a value in one of the two, in the order in which they are told;
      those of two lines, which `why` says something of, meet by their names. `smallest`: the
      relative change of a level below which nothing is told. */
  function compared(index, atA, atB, { why, smallest }) {
    const [offA, offB] = [new Set(atA.o), new Set(atB.o)];
    const name = (at) => JSON.stringify([index.name[at], index.metric[at], index.unit[at]]);
    const key = why ? name : (at) => at;
    const row = (at, base, head) => ({
      ids: [index.id[at]], name: index.name[at], metric: index.metric[at], unit: index.unit[at],
      kind: index.kind[at], base, head,
    });
    const left = new Map(atA.i.map((at, i) => [key(at), i]));
    const rows = atB.i.map((at, j) => {
      const i = left.get(key(at)), made = row(at, atA.v[i], atB.v[j]);
      if (!left.delete(key(at))) {
        return Object.assign(made, { group: "lostA", words: "missing in A" });
      }
      if (why) made.ids.unshift(index.id[atA.i[i]]);
      const levels = [atA.l[i], atB.l[j]], off = offA.has(atA.i[i]) || offB.has(at);
      const rule = { why, smallest };
      const came = judged(made, index.judgement[at], index.alerting[at], levels, off, rule);
      return Object.assign(made, came);
    });
    for (const i of left.values()) {
      rows.push(Object.assign(row(atA.i[i], atA.v[i]), { group: "lostB", words: "missing in B" }));
    }
    return rows.sort((one, other) => PLACE.get(one.group) - PLACE.get(other.group)
      || rank(one) - rank(other) || (other.weight ?? 0) - (one.weight ?? 0));
  }

  /** Wrong results, crashes, other counts, what is measured. */
  function rank(row) {
    if (row.kind !== "exact") return row.kind === "near_exact" ? 4 : 5;
    const place = FIRST.indexOf(row.metric);
    return place < 0 ? 3 : Math.min(place, 2);
  }

  /* The verdict */

  /** What a group comes to: "2 counts worse", "1 timing slower". */
  function claims(rows, group, [counts, seconds, bytes, others]) {
    const own = rows.filter((row) => row.group === group);
    const inexact = own.filter((row) => row.kind !== "exact");
    const measured = (kind) => inexact.filter((row) => sort(row) === kind).length;
    return [
      [own.length - inexact.length, "count", counts],
      [measured("times"), "timing", seconds], // "3 times slower" would be something else
      [measured("memory"), "size", bytes],
      [measured("counts"), "other measurement", others],
    ].flatMap(([number, noun, words]) => (number ? [`${several(number, noun)} ${words}`] : []));
  }

  /** State, status, and the sentence in two parts, as words of ours and names of others. */
  function verdict(rows, { a, b }, why) {
    const number = Object.fromEntries([...GROUPS.keys()].map((group) => [group, 0]));
    for (const row of rows) number[row.group] += 1;
    const worse = [
      number.wrong && `wrong results in ${several(number.wrong, "cell")}`,
      number.crashed && `crashes in ${several(number.crashed, "cell")}`,
      ...claims(rows, "counts", ["worse"]),
      ...claims(rows, "measured", ["", "slower", "larger", "worse"]),
    ].filter(Boolean);
    const better = claims(rows, "better", ["better", "faster", "smaller", "better"]);
    const standing = number.standing
      + rows.filter((row) => row.group === "better" && rank(row) < 2 && row.head > 0).length;
    const said = [label(b), " against ", label(a), ": ", claimed(worse, better, number)];
    if (standing) said.push(`; both crash or give wrong values in ${several(standing, "cell")}`);
    const [state, status] = stateOf(worse, better, standing, number, rows);
    return { state, status, said, rest: [...remaining(number, a, b, why), "."] };
  }

  function claimed(worse, better, number) {
    if (worse.length) return [...worse, ...better].join(", ");
    if (better.length) return ["nothing got worse", ...better].join(", ");
    if (number.workload) return "nothing got worse";
    const calm = number.unaffected || number.described || number.standing;
    return calm ? "no change seen" : "nothing could be judged";
  }

  /** "; 118 series unaffected, 40 not judged" */
  function remaining(number, a, b, why) {
    const all = [
      [number.unaffected, "unaffected"], [number.workload, "with a changed workload"],
      [number.described, "only described"], [number.unconfirmed, "not confirmed"],
      [number.unjudged, why ? "not compared" : "not judged"],
      [number.lostA, "missing in ", label(a)], [number.lostB, "missing in ", label(b)],
    ].filter(([many]) => many);
    return all.flatMap(([many, words, ...name], i) =>
      [`${i ? ", " : "; "}${count(many)} ${i ? "" : "series "}${words}`, ...name]);
  }

  function stateOf(worse, better, standing, number, rows) {
    if (worse.length) return ["bad", "✗ Worse"];
    if (standing) return ["", "? Wrong or crashing in both"];
    if (number.unjudged || number.unconfirmed || number.lostB || !rows.length) return ["", "? Not all judged"];
    return ["good", better.length ? "✓ Better" : "✓ Unaffected"];
  }

  /** The verdict and rows as a comment for GitHub, in which no name is obeyed. */
  function markdown({ said, rest }, rows, { a, b }) {
    const line = (cells) => `| ${cells.map((one) => one.replaceAll("|", "\\|")).join(" | ")} |`;
    const sentence = [...said, ...rest]
      .map((one) => (one.name === undefined ? prose(one) : code(one.name)));
    const sides = `${code(label(a).name)} → ${code(label(b).name)}`;
    const made = [sentence.join("")];
    if (rows.length) {
      const heads = ["verdict", "cell or benchmark", "metric", sides, "in words"];
      made.push("", line(heads), `|${"---|".repeat(heads.length)}`);
    }
    let length = made.join("\n").length;
    for (const [i, row] of rows.entries()) {
      const [checkbox, title] = GROUPS.get(row.group);
      const text = line([
        checkbox || title.toLowerCase(), code(shorten(row.name, LONGEST_NAME)),
        code(shorten(row.metric, LONGEST_LABEL)), prose(changeOf(row)), prose(row.words),
      ]);
      length += text.length + 1;
      if (length > LONGEST_COMMENT) {
        made.push("", `and ${count(rows.length - i)} more`);
        break;
      }
      made.push(text);
    }
    return `${made.join("\n")}\n`;
  }

  /* Ledgers, as multisets of name and outcome */

  const CHANGES = new Map([
    ["stopped", ["Stopped hitting", "a cache returned them in A, B compiles them"]],
    ["began", ["Began to hit", "A compiled them, a cache returns them in B"]],
    ["otherwise", ["Compiled otherwise", "stored by one, refused by the other"]],
    ["appeared", ["Appeared", "B has more of them"]],
    ["vanished", ["Vanished", "B has fewer of them"]],
    ["same", ["The same", "as often, with the same outcomes"]],
    ["internal", ["Internal", "compiled without asking a cache: they follow from the others"]],
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

  /** How many functions of a cell differ. */
  function differing(found) {
    const differ = [...found].filter(([group]) => !CALM.includes(group));
    return differ.reduce((sum, [, own]) => sum + own.length, 0);
  }

  return {
    GROUPS, FOLDED, CHANGES, CALM, OUTCOMES, LONGEST_NAME, LONGEST_LABEL,
    label, isWorse, sort, changeOf, compared, verdict, markdown, differences, differing,
  };
})();
