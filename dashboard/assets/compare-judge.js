/* The comparison of two subjects, without a page: finished verdicts, or else the rule of each series,
   which comes as data, applied to values and levels as observatory/analyze/comparison/rules.py does. */
"use strict";

observatory.judge = (() => {
  const { count, change, relative } = observatory.units;
  const { shorten, several, effect, exact, code, prose, hasPhrase } = observatory.words;
  const LONGEST_COMMENT = 60000; // GitHub takes 65,536 characters
  const LONGEST_NAME = 160;
  const LONGEST_LABEL = 80;
  const OF_CPU = "depends on the CPU, and the two have different ones";

  /** Groups of rows in their order: the checkbox that hides them, their title, what it says. */
  const GROUPS = new Map([
    ["wrong", ["worse", "Wrong results", "values that differ from the reference, or keys that two graphs share"]],
    ["crashed", ["worse", "Crashes", "the measured process raised an error, died or hung"]],
    ["standing", ["", "Wrong or crashing in both", "both subjects have the problem"]],
    ["counts", ["worse", "Counts that got worse", "every increase counts"]],
    ["measured", ["worse", "Slower or larger",
      "small numbers are the levels of the series, or the measured values"]],
    ["better", ["better", "Better", "counts first"]],
    ["levels", ["not judged", "Different levels, not judged",
      "the series changed in between, but these two values alone do not prove it"]],
    ["workload", ["described", "Workload changed, no alarm", "these numbers follow from the graph"]],
    ["described", ["described", "Only described", "these metrics are shown, but never judged"]],
    ["once", ["not judged", "Apart within one run only",
      "the intervals of both medians do not overlap, but one run cannot show how much the next differs"]],
    ["unconfirmed", ["not judged", "Not confirmed",
      "one value is far from its level, with too few subjects around it to confirm a step"]],
    ["unjudged", ["not judged", "Not judged", "the page of each series gives the reason"]],
    ["unaffected", ["unaffected", "Unaffected", "no change found"]],
    ["lostA", ["", "Missing in A", "only B has a value"]],
    ["lostB", ["", "Missing in B", "only A has a value"]],
  ]);
  const FOLDED = ["unconfirmed", "workload", "described", "unjudged", "unaffected", "lostA", "lostB"];
  const JUDGED = new Set(["worse", "better", "unaffected", "workload changed"]);
  const PLACE = new Map([...GROUPS.keys()].map((group, i) => [group, i]));

  const label = (subject) => ({ name: shorten(subject.label, LONGEST_LABEL) });
  const isWorse = (row) => GROUPS.get(row.group)[0] === "worse";
  const sort = (row) => ({ seconds: "times", bytes: "memory" }[row.unit] ?? "counts");
  const times = (ratio) => (Number.isNaN(ratio) ? 1 : Math.max(ratio, 1 / ratio)); // 0 against 0: NaN
  const changeOf = (row) => change(row.from ?? row.base, row.to ?? row.head, row.unit);

  /* Rows */

  /** What a rule says of one number a side: a recorded value or, of what is noisy, a level.
      `judged_values` in observatory/analyze/comparison/rules.py does the same. */
  function conclude(rule, base, head, off) {
    if (base == null || head == null) return "undecided";
    const low = Math.min(base, head), high = Math.max(base, head);
    if (rule.kind === "exact") {
      const small = high <= low * (1 + (rule.material ?? 0));
      return base === head || (rule.judged && !small) ? against(base, head) : "workload changed";
    }
    if (rule.kind === "near_exact") {
      const least = rule.resolution ?? 0; // smaller values count as this one
      if (low <= 0 && !least) return base === head ? "unaffected" : "workload changed";
      const ratio = Math.max(head, least) / Math.max(base, least);
      const sure = rule.material === null ? Infinity : (1 + rule.material) * (1 + rule.spread);
      const some = rule.all_of > 1; // of several values, all must differ
      if (ratio >= sure || ratio <= 1 / sure) return some ? "undecided" : against(base, head);
      const same = some || (1 / (1 + rule.spread) <= ratio && ratio <= 1 + rule.spread);
      return same ? "unaffected" : "workload changed";
    }
    if (!rule.judged) return "undecided";
    if (high < low * (1 + rule.smallest)) return off ? "undecided" : "unaffected";
    return against(base, head);
  }

  /** What asv's 99 % intervals of one run a side say, each `[low, value, high]`; `least` is the
      smallest change that counts. `conclude_run` in rules.py does the same. */
  function concludeRun(base, head, least) {
    if (Math.min(...base, ...head) <= 0) {
      return base.every((one, i) => one === head[i]) ? "unaffected" : "undecided";
    }
    const ratio = head[1] / base[1], low = head[0] / base[2], high = head[2] / base[0];
    if (1 / (1 + least) <= low && high <= 1 + least) return "unaffected";
    if (low > 1 && ratio >= 1 + least) return "worse";
    return high < 1 && ratio <= 1 / (1 + least) ? "better" : "undecided";
  }

  const against = (base, head) =>
    (head === base ? "unaffected" : head > base ? "worse" : "better");

  /** The group, words and weight of a row with a conclusion. `ratio`: of head to base, where it is
      known better than from the two values; `reason`: why it is undecided. */
  function concluded(row, conclusion, special, { ratio, reason, off }) {
    const isExact = row.kind === "exact", from = row.from ?? row.base, to = row.to ?? row.head;
    const by = isExact ? undefined : ratio ?? to / from;
    const weight = isExact ? Math.abs(to - from) : times(by);
    const share = isExact ? undefined : relative(by);
    const found = { conclusion, special, weight, share };
    const put = (group, words) => Object.assign(row, found, { group, words });
    switch (conclusion) {
      case "worse":
        return put(special || (isExact ? "counts" : "measured"),
          isExact ? exact(row) : effect(row, by));
      case "better": return put("better", isExact ? exact(row) : effect(row, by));
      case "workload changed": return put("workload", reason ?? effect(row, by));
      case "unaffected":
        if (special && row.head > 0) return put("standing", "the same in both");
        return put("unaffected", row.kind !== "noisy" && row.head === row.base ? "the same"
          : "no change found");
      default:
        return off ? put("unconfirmed", `${effect(row, row.head / row.base)}, not confirmed`)
          : put("unjudged", reason ?? "not judged");
    }
  }

  /** A row of a series whose history is too short for levels. */
  function byRun(row, runs, least) {
    const conclusion = concludeRun(...runs, least), by = row.head / row.base;
    const weight = times(by), share = relative(by);
    const found = { conclusion: "undecided", once: true, weight, share };
    if (conclusion === "unaffected") {
      return Object.assign(row, found, { group: "unaffected", words: "the same within one run" });
    }
    const words = conclusion === "undecided" ? "not sure even within one run" : effect(row, by);
    return Object.assign(row, found,
      { group: conclusion === "undecided" ? "unjudged" : "once", words });
  }

  /** A row of two subjects for whose pair there is no finished verdict. */
  function byRule(row, rule, levels, off, why, cpus, runs, least) {
    if (rule.of_cpu && cpus) return concluded(row, "undecided", "", { reason: OF_CPU });
    if (rule.kind !== "noisy") {
      return concluded(row, conclude(rule, row.base, row.head), rule.group, {});
    }
    if (why) return concluded(row, "undecided", "", { reason: `not compared: ${why}` });
    if (rule.judged && runs) return byRun(row, runs, least);
    const conclusion = conclude(rule, ...levels, off);
    if (!rule.judged) return described(row, conclusion);
    if (conclusion === "worse" || conclusion === "better") [row.from, row.to] = levels;
    const whole = levels.every((one) => one != null);
    return concluded(row, conclusion, "", { off: off && whole && row.base > 0 && row.head > 0 });
  }

  function described(row, conclusion) {
    const group = row.base === row.head ? "unaffected" : "described";
    const words = row.base === row.head ? "the same" : "never judged";
    return Object.assign(row, { conclusion, group, words });
  }

  /** A row on which the finished verdicts on the pair have none. */
  function without(row, rule, verdicts, cpus) {
    if (!rule.judged) return described(row);
    const [model] = row.name.split(" ");
    const under = rule.once && [...verdicts.values()].find((one) =>
      one.metric === row.metric && one.name.startsWith(`${model} `));
    const words = under ? `judged once for all cells of ${model}: see ${under.name}`
      : rule.of_cpu && cpus ? OF_CPU : "not judged";
    return Object.assign(row, { group: "unjudged", words });
  }

  /** A row whose verdict is finished. The levels of its series stand beside it. */
  function finished(row, verdict, special, rule, levels) {
    const { conclusion, before, after, ratio, reason } = verdict;
    if (before != null) row.base = before;
    if (after != null) row.head = after;
    concluded(row, conclusion, special, { ratio, reason });
    if (rule?.kind !== "noisy" || levels.some((one) => one == null)) return row;
    const moved = ["worse", "better"].includes(conclude(rule, ...levels, false));
    row.levels = levels;
    if (conclusion === "undecided" && moved) {
      [row.from, row.to] = levels;
      const by = levels[1] / levels[0], words = `levels ${effect(row, by)}; ${row.words}`;
      Object.assign(row, { group: "levels", words, weight: times(by) });
    }
    return row;
  }

  const keyOf = (name, metric) => JSON.stringify([name, metric]);
  function unpacked(pairs, base) {
    const pair = pairs.bases[base], found = new Map();
    let number = 0;
    for (const [i, digit] of [...pair.verdicts].entries()) {
      if (digit === "-") continue;
      const [name, metric, unit, kind] = pairs.series[i];
      const verdict = { name, metric, unit, kind, special: pairs.groups[i],
        conclusion: pairs.conclusions[digit] };
      if (digit !== "0") {
        const [before, after, ratio, text] = pair.values[number++];
        Object.assign(verdict, { before, after, ratio, reason: pairs.texts[text] });
      }
      found.set(keyOf(name, metric), verdict);
    }
    const text = (number) => pairs.texts[number];
    const missing = pair.missing.map(([cell, side, reason]) => [cell, side, text(reason)]);
    return { outcome: pair.outcome, verdicts: found, missing, causes: pair.causes.map(text),
      warnings: pair.warnings.map(text) };
  }

  /** What a subject has, by the numbers of its series: its file counts those of its line alone. */
  function numbered(index, line, found) {
    if (!found) return { i: [], v: [], l: [], o: [] };
    const own = index.line.flatMap((of, number) => (of === line ? [number] : []));
    const numbers = (places) => places.map((place) => own[place]);
    return { ...found, i: numbers(found.i), o: numbers(found.o) };
  }

  /** A row for each series with a value in one of the two, and for each finished verdict, in the
      order in which they are shown; `lost`: B lacks what could be judged. `why`: why measured values
      of two lines may not be compared; `cpus`: whether two CPUs took the values. `pair`: the finished
      verdicts, if there are any. `least`: the smallest change that counts between the rounds of two
      runs. */
  function compared(index, rules, atA, atB, { why, cpus, pair, least }) {
    const [offA, offB] = [new Set(atA.o), new Set(atB.o)];
    // Series meet by their names: two lines have different ones, and so has work of two sources.
    const key = (at) => JSON.stringify([index.name[at], index.metric[at], index.unit[at]]);
    const row = (at, base, head) => ({
      ids: [index.id[at]], name: index.name[at], metric: index.metric[at], unit: index.unit[at],
      kind: index.kind[at], base, head,
    });
    const verdicts = new Map(pair?.verdicts), rows = [];
    const left = new Map(atA.i.map((at, i) => [key(at), i]));
    for (const [j, at] of atB.i.entries()) {
      const i = left.get(key(at)), made = row(at, atA.v[i], atB.v[j]);
      rows.push(made);
      if (!left.delete(key(at))) {
        Object.assign(made, { group: "lostA", words: "missing in A" });
        continue;
      }
      const one = atA.i[i] === at, apart = index.source[atA.i[i]] !== index.source[at];
      if (!one) made.ids.unshift(index.id[atA.i[i]]);
      const levels = one ? [atA.l[i], atB.l[j]] : [null, null];
      const rule = rules[index.rule[at]];
      const off = offA.has(atA.i[i]) || offB.has(at);
      const series = keyOf(made.name, made.metric), verdict = verdicts.get(series);
      if (verdict) finished(made, verdict, verdict.special, rule, levels);
      else if (pair) without(made, rule, pair.verdicts, cpus);
      else if (apart) concluded(made, "undecided", "", { reason: "counted by different sources" });
      else byRule(made, rule, levels, off, why, cpus, runs(atA, i, atB, j), least);
      verdicts.delete(series);
    }
    for (const i of left.values()) {
      const lost = !why && rules[index.rule[atA.i[i]]].judged;
      rows.push(Object.assign(row(atA.i[i], atA.v[i]),
        { group: "lostB", words: "missing in B", lost }));
    }
    for (const verdict of verdicts.values()) {
      const { name, metric, unit, kind, before, after, special } = verdict;
      const made = { ids: [], name, metric, unit, kind, base: before ?? 0, head: after ?? 0 };
      rows.push(finished(made, verdict, special, null, []));
    }
    return rows.sort((one, other) => PLACE.get(one.group) - PLACE.get(other.group)
      || rank(one) - rank(other) || (other.weight ?? 0) - (one.weight ?? 0));
  }

  /** The intervals of both values around them; null where one has none. */
  function runs(...sides) {
    const found = [sides.slice(0, 2), sides.slice(2)]
      .map(([at, i]) => [at.lo?.[i], at.v[i], at.hi?.[i]]);
    return found.flat().some((one) => one == null) ? null : found;
  }

  /** Wrong results, crashes, other counts, what is measured. */
  function rank(row) {
    if (row.kind !== "exact") return row.kind === "near_exact" ? 4 : 5;
    return { wrong: 0, crashed: 1 }[row.special] ?? (hasPhrase(row.metric) ? 2 : 3);
  }

  /* The verdict */

  /** The contents of a group: "2 counts worse", "1 timing slower". */
  function claims(rows, group, [counts, seconds, bytes, work, others]) {
    const own = rows.filter((row) => row.group === group);
    const inexact = own.filter((row) => row.kind !== "exact");
    const measured = (kind) => inexact.filter((row) => sort(row) === kind);
    const [near, other] = ["near_exact", "noisy"]
      .map((kind) => measured("counts").filter((row) => row.kind === kind).length);
    return [
      [own.length - inexact.length, "count", counts],
      [near, "work count", work],
      [measured("times").length, "timing", seconds], // "3 times slower" would be something else
      [measured("memory").length, "size", bytes],
      [other, "other measurement", others],
    ].flatMap(([number, noun, words]) => (number ? [`${several(number, noun)} ${words}`] : []));
  }

  /** State, status, and the sentence in two parts, as words of ours and names of others.
      `stopped`: functions that a cache returned in A and B compiles, by cell. */
  function verdict(rows, { a, b }, { why, pair, partial, stopped = new Map() }) {
    const number = Object.fromEntries([...GROUPS.keys()].map((group) => [group, 0]));
    for (const row of rows) number[row.group] += 1;
    const cells = (among) => new Set(rows.filter(among).map((row) => row.name)).size;
    const worse = [
      number.wrong && `wrong results in ${several(cells((row) => row.group === "wrong"), "cell")}`,
      number.crashed && `crashes in ${several(number.crashed, "cell")}`,
      ...claims(rows, "counts", ["worse"]),
      ...claims(rows, "measured", ["", "slower", "larger", "higher", "worse"]),
    ].filter(Boolean);
    const better = claims(rows, "better", ["better", "faster", "smaller", "lower", "better"]);
    const standing = cells((row) => row.group === "standing"
      || (row.group === "better" && row.special && row.head > 0));
    const said = [label(b), " against ", label(a), ": ", claimed(worse, better, number, stopped)];
    if (standing) said.push(`; both crash or give wrong values in ${several(standing, "cell")}`);
    const [state, status] = stateOf(worse, better, standing, number, rows, pair, partial, stopped);
    return { state, status, said, rest: [...remaining(number, a, b, why, pair), "."] };
  }

  function claimed(worse, better, number, stopped) {
    if (worse.length) return [...worse, ...better].join(", ");
    if (stopped.size) {
      const functions = several(new Set([...stopped.values()].flat()).size, "function");
      const where = several(stopped.size, "cell");
      const alarm = `no verdict is worse, but ${functions} stopped hitting a cache in ${where}`;
      return [alarm, ...better].join(", ");
    }
    if (number.once && !better.length) {
      return `${several(number.once, "benchmark")} apart within one run only`;
    }
    if (better.length || number.workload) return ["nothing got worse", ...better].join(", ");
    const calm = number.unaffected || number.described || number.standing;
    return calm ? "no change found" : "nothing could be judged";
  }

  /** "; 118 series unaffected, 40 not judged" */
  function remaining(number, a, b, why, pair) {
    const all = [
      [number.unaffected, "unaffected"], [number.workload, "with a changed workload"],
      [number.described, "only described"], [number.unconfirmed, "not confirmed"],
      [number.levels, "at another level but not judged"],
      [number.unjudged, why && !pair ? "not compared" : "not judged"],
      [number.lostA, "missing in ", label(a)], [number.lostB, "missing in ", label(b)],
    ].filter(([many]) => many);
    const said = all.flatMap(([many, words, ...name], i) =>
      [`${i ? ", " : "; "}${count(many)} ${i ? "" : "series "}${words}`, ...name]);
    const cells = pair?.missing.length;
    if (cells) said.push(`; ${several(cells, "cell")} could not be compared in full`);
    return said;
  }

  /** `partial`: whether saved samples and ledgers say more than the values that were compared. */
  function stateOf(worse, better, standing, number, rows, pair, partial, stopped) {
    if (pair ? pair.outcome === "worse" : worse.length) {
      return ["bad", number.wrong ? "✗ Wrong results" : number.crashed ? "✗ Crashes" : "✗ Worse"];
    }
    if (standing) return ["", "? Wrong or crashing in both"];
    const open = pair ? pair.outcome === "undecided" || rows.some((row) => row.lost)
      : partial || rows.some((row) => row.once) || number.unjudged || number.unconfirmed || number.lostB || !rows.length;
    if (open) {
      const some = rows.some((row) => row.once || JUDGED.has(row.conclusion));
      return ["", some ? "? Partly judged" : "? Not judged"];
    }
    if (stopped.size) return ["", "? Look at the functions"];
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

  return {
    GROUPS, FOLDED, LONGEST_NAME, LONGEST_LABEL,
    label, isWorse, sort, changeOf, conclude, concludeRun, unpacked, numbered, compared, verdict, markdown,
  };
})();
