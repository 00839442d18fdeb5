/* What the series page says: changes in words, what is known of a series, and what lies between two
   subjects. `page` is {data, series, slots}. Higher is worse, always. */
"use strict";

observatory.seriesWords = (() => {
  const { element } = observatory;
  const { change, difference, effect, human, pair, percent } = observatory.units;
  const { colourOf } = observatory.seriesAxes;
  const MOST_STEPS = 6, MOST_ROWS = 6;
  const JUDGED = { judged: "judged against its own noise", exact: "exact: every change counts" };
  const POINTS = {
    square: "9,3 17,3 17,11 9,11", triangle: "13,2 18,11 8,11", diamond: "13,2 17,7 13,12 9,7",
    inverted_triangle: "8,3 18,3 13,12", hex: "11,3 15,3 18,7 15,11 11,11 8,7",
  };

  /** What became of a value: "slower: +12 %", and of a count "lower: −5". */
  function words(before, after, { unit, kind }) {
    if (before == null || after == null) return "no value";
    return (kind === "exact" ? difference : effect)(before, after, unit);
  }

  const day = (slot) => slot.date.slice(0, 10);
  const valueText = (one, i) => (i === undefined ? "no value" : human(one.v[i], one.unit));
  const ofLine = (series, slot) => series.filter((one) => slot.at.has(one.line));
  const quiet = (text) => element("p", { class: "quiet" }, text);
  const bold = (text) => element("b", {}, text);

  function environment(page, number) {
    const line = page.data.lines[number];
    return [line.machine, line.env, line.era].filter(Boolean).join(", ");
  }

  function interval(one, i) {
    const [low, high] = [one.lo?.[i], one.hi?.[i]];
    if (low == null || high == null) return "-";
    return pair(low, high, one.unit, " to ");
  }

  function commitOf(page, slot) {
    const short = element("code", {}, slot.commit.slice(0, 10)), { href } = slot;
    return href ? element("a", { href }, short) : short;
  }

  /** The values of one subject in a few lines, beside the pointer. */
  function tip(page, series, slot) {
    const rows = ofLine(series, slot).map((one) => element("div", {}, swatch(one), " ",
      bold(valueText(one, one.value.get(slot.x))), series.length > 1 ? ` ${one.name} ${one.full}` : ""));
    return [element("div", {}, bold(slot.label), " ", element("code", {}, slot.commit.slice(0, 10)),
      ` ${day(slot)}`), ...rows.slice(0, MOST_ROWS),
    rows.length > MOST_ROWS ? element("div", {}, `and ${rows.length - MOST_ROWS} more`) : ""];
  }

  /** The line and mark that a series is drawn with. */
  function swatch(one) {
    const draw = (tag, attributes) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
      return made;
    };
    const fill = colourOf(one), points = POINTS[one.shape], dash = one.dash.join(" ") || "none";
    const svg = draw("svg", { viewBox: "0 0 26 14", class: "swatch", "aria-hidden": "true" });
    svg.append(
      draw("path", { d: "M0 7h26", stroke: fill, "stroke-width": 2, "stroke-dasharray": dash }),
      points ? draw("polygon", { points, fill }) : draw("circle", { cx: 13, cy: 7, r: 4.5, fill }));
    return svg;
  }

  /* One subject, and two. */

  function heading(page, slot, letter) {
    return element("p", { class: "subject" },
      letter && element("span", { class: "pin" }, letter),
      bold(slot.label), " ", commitOf(page, slot), ` ${day(slot)}`,
      slot.versions ? element("small", {}, slot.versions) : "");
  }

  /** One subject as a sentence, to be heard. */
  function spoken(series, slot) {
    const told = ofLine(series, slot)
      .map((one) => `${one.name} ${one.full}: ${valueText(one, one.value.get(slot.x))}`);
    return `${slot.label}, ${day(slot)}. ${told.join(". ")}`;
  }

  /** The values of one subject; `pinned`: the one that they are seen against, or undefined. */
  function readout(page, series, slot, pinned) {
    const against = pinned && pinned !== slot ? pinned : null;
    const rows = ofLine(series, slot).map((one) => {
      const i = one.value.get(slot.x), before = against && one.v[one.value.get(against.x)];
      return element("tr", {},
        element("th", { scope: "row" }, swatch(one), ` ${one.name} `,
          element("small", {}, one.full)),
        element("td", {}, bold(valueText(one, i))), element("td", {}, interval(one, i)),
        element("td", {}, String(one.n?.[i] ?? "-")),
        against && element("td", {}, words(before, one.v[i], one)));
    });
    if (!rows.length) {
      return [heading(page, slot), quiet("No series that is shown was measured there.")];
    }
    const heads = ["series", "value", "interval", "n"];
    if (against) heads.push(`against ${against.label}`);
    const cells = heads.map((text) => element("th", { scope: "col" }, text));
    return [heading(page, slot), element("table", { class: "numbers" },
      element("thead", {}, element("tr", {}, ...cells)), element("tbody", {}, ...rows))];
  }

  function changed(one, base, head) {
    const [i, j] = [one.value.get(base.x), one.value.get(head.x)];
    const item = element("li", {}, swatch(one), ` ${one.name}, ${one.full}: `);
    if (i === undefined || j === undefined) {
      item.append(bold("no value at one of them"));
      return item;
    }
    item.append(bold(words(one.v[i], one.v[j], one)),
      ` (${change(one.v[i], one.v[j], one.unit)})`);
    if (one.judgement !== "judged" || one.drift) return item;
    const level = (index) => one.bounds.findLastIndex((bound) => bound <= index);
    const steps = level(j) - level(i);
    const many = steps === 1 ? "one step" : `${steps} steps`;
    item.append(steps ? `, ${many} in between` : ", both on one level");
    return item;
  }

  /** What changed from A to B, the older one first, whichever was pinned first. */
  function between(page, series, a, b, unpin) {
    if (!a) return [quiet("Pin two points to see what changed between them.")];
    const ends = [["A", a], ["B", b]].filter(([, slot]) => slot)
      .sort(([, one], [, other]) => one.x - other.x);
    const said = ends.map(([letter, slot]) => heading(page, slot, letter));
    const actions = element("p", { class: "actions" },
      element("button", { type: "button", onclick: unpin }, "Unpin"));
    if (!b) return [...said, quiet("Pin another point to see what changed."), actions];
    const [base, head] = ends.map(([, slot]) => slot);
    const line = series.map((one) => one.line).find((each) => base.at.has(each) && head.at.has(each));
    if (line === undefined) {
      return [...said, quiet("Measured in two environments: not compared."), actions];
    }
    const refs = [base, head].map((slot) => slot.ref && encodeURIComponent(slot.ref));
    const url = page.data.compare_url && refs.every(Boolean) && page.data.compare_url + refs.join("...");
    actions.prepend(
      url ? element("a", { href: url }, "Commits between them") : "",
      element("a", { href: `compare.html#a=${line}-${base.at.get(line)}&b=${line}-${head.at.get(line)}` },
        "Compare all that was measured"));
    const items = series.map((one) => changed(one, base, head));
    return [...said, element("ul", {}, ...items), actions];
  }

  /* What is known of a series. */

  function stepItem(page, one, step) {
    const at = (i) => page.slots[one.places[i]];
    const good = at(Math.max(0, step.at - 1)), bad = at(step.at);
    const unknown = one.at[step.at] - one.at[Math.max(0, step.at - 1)] - 1;
    return element("li", { class: step.worse ? "bad" : "good" },
      bold(step.words), ` (${step.numbers}): first in `, bold(bad.label), " ", commitOf(page, bad),
      `, ${day(bad)}; last without it: ${good.label} `, commitOf(page, good),
      unknown > 0 ? `; ${unknown} in between ${unknown === 1 ? "has" : "have"} no value` : "");
  }

  function eventItem(page, one, event) {
    const at = page.slots[one.places[event.at]];
    return element("li", { class: event.worse ? "bad" : "good" }, bold(event.words),
      " in the same cell: first in ", bold(at.label), " ", commitOf(page, at));
  }

  function driftItem(one) {
    return element("li", {}, bold(`drifts: ${one.drift.words}`),
      " from the first value to the last, in addition to its steps",
      one.drift.numbers ? ` (${one.drift.numbers})` : "");
  }

  /** Steps, the newest first; those beyond the first few are folded. */
  function stepsOf(page, one) {
    const items = one.steps.map((step) => stepItem(page, one, step)).reverse();
    items.push(...(one.events ?? []).map((event) => eventItem(page, one, event)));
    if (one.drift) items.unshift(driftItem(one));
    if (!items.length) {
      return [quiet({ judged: "No step was found.", exact: "It never changed." }[one.judgement]
        ?? "Steps were not searched for.")];
    }
    const older = items.splice(MOST_STEPS);
    const list = element("ul", {}, ...items);
    if (!older.length) return [list];
    return [list, element("details", {}, element("summary", {}, `${older.length} older`),
      element("ul", {}, ...older))];
  }

  function alertItem(alert) {
    const href = `alerts/${encodeURIComponent(alert.id)}.html`, said = alert.sentence || alert.kind;
    return element("li", {}, element("span", { class: `state ${alert.state}` }, alert.state), " ",
      alert.page === false ? said : element("a", { href }, said));
  }

  function facts(page, one) {
    const all = page.data.lines[one.line].subjects.length;
    const known = [
      ["Metric", one.metric], ["Unit", one.unit], ["Newest", human(one.v.at(-1), one.unit)],
      ["Values", `${one.v.length} of ${all} subject${all === 1 ? "" : "s"}`],
      ["Noise", one.noise == null ? "unknown" : percent(one.noise)],
      ["Expected", one.expected == null ? "" : human(one.expected, one.unit)],
      ["Judgement", JUDGED[one.judgement] ?? `not judged: ${one.reason || one.judgement}`],
      ["Measured in", environment(page, one.line)],
      ["Counted by", one.source ?? ""],
    ].filter(([, meaning]) => meaning !== "");
    const terms = known.map(([word, meaning]) =>
      element("div", {}, element("dt", {}, word), element("dd", {}, meaning)));
    const card = element("article", { class: "card" },
      element("h3", {}, swatch(one), ` ${one.name}`),
      element("dl", { class: "facts" }, ...terms),
      element("h4", {}, one.judgement === "exact" ? "Changes" : "Steps"), ...stepsOf(page, one));
    if (one.alerts.length) {
      card.append(element("h4", {}, "Alerts"), element("ul", {}, ...one.alerts.map(alertItem)));
    }
    return card;
  }

  return { words, environment, swatch, spoken, tip, readout, between, facts };
})();
