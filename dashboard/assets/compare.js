/* The compare page: choosing two subjects, filters, tables, what the address holds. */
"use strict";

(() => {
  const { load, element, units: { count }, judge, ledger } = observatory;
  const { shorten, several, learn } = observatory.words;
  const { named, button, copying, field, select, quiet, problem, nodes, grid, folding,
    seriesRow, functionRow, repeating, drawing } = observatory.pieces;
  const { GROUPS, FOLDED, LONGEST_LABEL, label } = judge;
  const { CHANGES, CALM } = ledger;
  const AXES = ["model", "scenario", "backend", "launch"];
  const FILTERS = ["q", "kind", "least", "scenario", "backend", "launch"];
  const SHOWS = ["worse", "better", "described", "unaffected", "not judged"];

  const page = document.getElementById("compare");
  const notes = document.getElementById("notes");
  const place = {}; // parts of the page that are redrawn
  const ui = { show: {} }; // its controls
  const opened = new Set(); // names of the folded tables that are open
  let site, index, withLedger, withPairs, profiles; // what the site holds
  let sides, rows, ledgers, pair, summary; // what is compared, and what was found
  let turn = 0;

  /* Subjects */

  function subject(code) {
    const [, line, number] = /^(\d{1,9})-(\d{1,9})$/.exec(code) ?? [];
    const found = site.lines[line]?.subjects[number];
    if (!found) return null;
    const [name, commit, date, , , ref = ""] = found;
    return { code: `${+line}-${+number}`, line: +line, number: +number, label: name, commit, date, ref };
  }

  /** The two that the address asks for, others where it does not, and what is to be said of it. */
  function asked(address) {
    const wanted = [address.a, address.b].map((codes) => codes?.[0]);
    let [a, b] = wanted.map((code) => (code === undefined ? null : subject(code)));
    const lengths = site.lines.map((line) => line.subjects.length);
    const line = a ? a.line : lengths.indexOf(Math.max(...lengths));
    b ??= subject(`${line}-${lengths[line] - 1}`);
    a ??= subject(`${b.line}-${b.number - 1}`) ?? b;
    const said = [["A", wanted[0], a], ["B", wanted[1], b]]
      .filter(([, code]) => code !== undefined && !subject(code))
      .map(([side, code, found]) => "The address asks for subject " +
        `${shorten(code, LONGEST_LABEL)} as ${side}, which these pages do not have; ` +
        `${label(found).name} is shown instead.`);
    return { a, b, said };
  }

  /** Why measured values of the two may not be compared; empty where they may. */
  function apart({ a, b }) {
    if (a.line === b.line) return "";
    const [one, other] = [site.lines[a.line], site.lines[b.line]];
    return [
      one.machine === other.machine ? "" : "another machine",
      one.env === other.env ? "" : "another environment",
    ].filter(Boolean).join(", ") || "the machine or its software changed in between";
  }

  /* The verdict */

  function drawVerdict() {
    const why = apart(sides), first = rows.find(judge.isWorse), more = [];
    if (first) {
      const names = [named("span", { class: "mono" }, first.name), " ",
        named("span", { class: "mono" }, first.metric, LONGEST_LABEL)];
      const what = `, ${first.words} (${judge.changeOf(first)}).`;
      more.push(element("p", {}, "Most important: ", ...names, what));
    }
    if (sides.a.code === sides.b.code) more.push(element("p", {}, "A and B are the same subject."));
    if (pair?.causes.length) {
      more.push(element("p", {}, "Causes (A is BASE, B is HEAD):"),
        element("ul", {}, ...pair.causes.map((one) => element("li", {}, `${one}.`))));
    }
    for (const one of pair?.warnings ?? []) more.push(quiet(`${one[0].toUpperCase()}${one.slice(1)}.`));
    if (partial()) {
      more.push(quiet("Only one recorded value of each series is compared here. ",
        element("code", {}, "observatory compare RESULTS:A RESULTS:B"),
        " also tests their times and reads their ledgers."));
    }
    if (why && !pair) {
      more.push(element("p", {}, `The two were measured in different environments (${why}). ` +
        "Counts are compared, times and memory are not."));
    }
    const sentence = element("h2", {}, ...nodes(summary.said),
      element("span", { class: "also" }, ...nodes(summary.rest)));
    place.verdict.className = `verdict ${summary.state}`;
    place.verdict.replaceChildren(element("p", { class: "status" }, summary.status), sentence, ...more,
      element("p", { class: "actions" }, copying("Copy as Markdown", markdown), between() ?? "", " ", flame() ?? ""));
    observatory.say(sentence.textContent);
  }

  /** Whether samples and ledgers of both were saved, and no verdict on them is finished. */
  function partial() {
    const codes = [sides.a.code, sides.b.code];
    return !pair && codes[0] !== codes[1] && codes.every((code) => withLedger[code]);
  }

  function between() {
    const refs = [sides.a.ref, sides.b.ref]; // what the forge calls them: tags or commits
    const linked = /^https?:\/\//.test(site.compare_url) && refs.every(Boolean);
    if (!linked || refs[0] === refs[1]) return null;
    const href = site.compare_url + refs.map(encodeURIComponent).join("...");
    return element("a", { href }, "What changed in between");
  }

  function flame() {
    const [cell, href] = profiles.pages[`${sides.a.code} ${sides.b.code}`] ?? [];
    return href ? element("a", { href }, `Where the work of ${cell} went: a flame graph`) : null;
  }

  /** Whether `observatory profile` finds a profile of one cell in both, and there is no page. */
  function unprofiled() {
    const codes = [sides.a.code, sides.b.code];
    const [one, other] = codes.map((code) => profiles.of[code] ?? []);
    const machines = [sides.a, sides.b].map(({ line }) => site.lines[line].machine);
    return codes[0] !== codes[1] && machines[0] === machines[1] && !profiles.pages[codes.join(" ")]
      && one.some((cell) => other.includes(cell));
  }

  /** How to draw a flame graph of the two, where no page has one. */
  function profiling() {
    if (!unprofiled()) return [];
    const machines = new Set(site.lines.map(({ machine }) => machine));
    return drawing(sides, machines.size > 1 ? site.lines[sides.a.line].machine : "");
  }

  /** What can be seen of the comparison, for GitHub. */
  function markdown() {
    const seen = [...passing()].filter(([group]) => !FOLDED.includes(group) || opened.has(group));
    return judge.markdown(summary, seen.flatMap(([, own]) => own), sides);
  }

  /* Tables */

  function ours(name) {
    const words = name.split(" ");
    return words.length === AXES.length && site.models.includes(words[0]) ? words : null;
  }

  /** The rows that pass the filters, by group. */
  function passing() {
    const text = ui.q.value.trim().toLowerCase(), kind = ui.kind.value;
    const least = Number(ui.least.value) / 100 - 1e-9;
    const axes = AXES.map((axis, i) => [i, ui[axis]?.value]).filter(([, word]) => word);
    const found = new Map([...GROUPS.keys()].map((group) => [group, []]));
    for (const row of rows) {
      const [checkbox] = GROUPS.get(row.group);
      const passes = (!checkbox || ui.show[checkbox].checked)
        && (!kind || judge.sort(row) === kind)
        && !(row.share < least)
        && (!text || `${row.name} ${row.metric}`.toLowerCase().includes(text))
        && axes.every(([i, word]) => ours(row.name)?.[i] === word);
      if (passes) found.get(row.group).push(row);
    }
    return found;
  }

  /** Draw the tables; how many series they show. */
  function drawTables() {
    const heads = ["Cell or benchmark", "Metric", "A → B", "In words"], open = [], folded = [];
    let number = 0;
    for (const [group, own] of passing()) {
      const [, title, words] = GROUPS.get(group);
      const says = `${count(own.length)} series: ${words}`;
      const table = () => grid(title, says, heads, own, seriesRow);
      number += own.length;
      if (!own.length) continue;
      if (!FOLDED.includes(group)) open.push(element("div", { class: "card" }, table()));
      else folded.push(folding(opened, group, title, says, table));
    }
    if (!open.length) {
      const filtered = rows.some((row) => !FOLDED.includes(row.group));
      open.push(quiet(filtered ? "No series that got worse or better passes the filters."
        : "Nothing got worse or better."));
    }
    if (pair?.missing.length) {
      const title = "Cells that could not be compared in full";
      const draw = ([cell, side, reason]) => element("tr", {}, named("th", { scope: "row" }, cell),
        element("td", {}, { base: "A", head: "B", both: "both" }[side]),
        element("td", { class: "words" }, reason));
      folded.push(folding(opened, "incomplete", title, several(pair.missing.length, "cell"),
        () => grid(title, "", ["Cell", "Of", "Why"], pair.missing, draw)));
    }
    if (folded.length) open.push(element("div", { class: "card folded" }, ...folded));
    place.tables.replaceChildren(...open);
    return number;
  }

  /* Ledgers */

  function drawLedger() {
    const found = ledger.differences(ledgers, ui.cell.value), open = [], folded = [];
    const heads = ["Function", `A: ${label(sides.a).name}`, `B: ${label(sides.b).name}`];
    for (const [group, own] of found) {
      if (!own.length) continue;
      const [title, words] = CHANGES.get(group);
      const calm = group === "stopped"
        && !rows.some((row) => row.name === ui.cell.value && judge.isWorse(row));
      const says = `${several(own.length, "function")}: ${words}`
        + (calm ? "; no verdict on this cell is worse" : "");
      const table = () => grid(title, says, heads, own, functionRow);
      if (!CALM.includes(group)) open.push(table());
      else folded.push(folding(opened, `function ${group}`, title, says, table));
    }
    place.functions.replaceChildren(
      open.length ? element("div", { class: "card ledger" }, ...open)
        : quiet("No function of this cell differs."),
      folded.length ? element("div", { class: "card folded ledger" }, ...folded) : "");
  }

  function withoutLedger() {
    const [one, other] = [sides.a, sides.b].filter((side) => !withLedger[side.code]).map(label);
    if (!one) return quiet("Their ledgers have no cell in common.");
    const names = other && other.name !== one.name ? [one, " and ", other] : [one];
    return quiet("No ledger is saved for ", ...nodes(names), ".");
  }

  /** The choice of a cell whose ledgers are shown: the one with most differences, unless asked. */
  function buildLedger(wanted) {
    const [before, after] = (ledgers ?? []).map((one) => one.cells);
    const cells = Object.keys(after ?? {}).filter((cell) => Object.hasOwn(before, cell));
    delete ui.cell;
    if (!cells.length) return place.ledger.replaceChildren(withoutLedger());
    const numbers = new Map(cells.map((cell) =>
      [cell, ledger.differing(ledger.differences(ledgers, cell))]));
    const most = cells.reduce((best, cell) =>
      (numbers.get(cell) > numbers.get(best) ? cell : best));
    const says = (number) => (number
      ? `${count(number)} of its functions ${number === 1 ? "differs" : "differ"}` : "the same");
    ui.cell = select(cells.map((cell) => [cell, `${cell}: ${says(numbers.get(cell))}`]),
      () => { drawLedger(); remember(); });
    ui.cell.value = numbers.has(wanted) ? wanted : most;
    ui.cell.dataset.most = most;
    place.functions = element("div");
    place.ledger.replaceChildren(field("Cell", ui.cell), place.functions);
    return drawLedger();
  }

  /** The cell that somebody chose, and not the page. */
  const chosenCell = () => (ui.cell && ui.cell.value !== ui.cell.dataset.most ? ui.cell.value : "");

  /* Controls */

  function choose() {
    notes.replaceChildren();
    return update(chosenCell());
  }

  function swap() {
    [ui.a.value, ui.b.value] = [ui.b.value, ui.a.value];
    return choose();
  }

  function subjects() {
    const words = (...all) => all.filter(Boolean).map((one) => shorten(String(one), LONGEST_LABEL));
    return element("select", { onchange: choose }, ...site.lines.map((line, l) => {
      const options = line.subjects.map(([name, commit, date], k) => {
        const short = name.startsWith(commit.slice(0, 7)) ? "" : commit.slice(0, 8);
        const text = words(name, short, date.slice(0, 10)).join(" · ");
        return element("option", { value: `${l}-${k}` }, text);
      });
      const title = words(line.machine, line.env, line.era).join(", ");
      return element("optgroup", { label: title }, ...options.reverse());
    }));
  }

  function refilter() {
    if (!rows) return;
    observatory.say(`${count(drawTables())} series shown`);
    remember();
  }

  function filters() {
    ui.q = element("input", { type: "search", autocomplete: "off", oninput: refilter });
    ui.kind = select([["", "all"], ["times"], ["counts"], ["memory"]], refilter);
    ui.least = element("input", { type: "number", min: "0", step: "any", oninput: refilter });
    const shows = SHOWS.map((word) => {
      ui.show[word] = element("input", { type: "checkbox", onchange: refilter });
      return element("label", {}, ui.show[word], ` ${word}`);
    });
    return element("div", { class: "card filters" },
      field("Cell, benchmark or metric", ui.q), field("Kind", ui.kind), ...axes(),
      field("Least change, % (exact counts always shown)", ui.least),
      element("fieldset", {}, element("legend", {}, "Show"), ...shows));
  }

  /** Choices of scenario, backend and launch, where names are ours. */
  function axes() {
    const found = AXES.map(() => new Set());
    for (const name of index.name) ours(name)?.forEach((word, i) => found[i].add(word));
    return AXES.map((axis, i) => [axis, [...found[i]]]).slice(1).filter(([, own]) => own.length > 1)
      .map(([axis, own]) => {
        ui[axis] = select([["", "all"], ...own.map((word) => [word])], refilter);
        const name = axis === "launch" ? "start method" : axis;
        return field(name[0].toUpperCase() + name.slice(1), ui[axis]);
      });
  }

  function build() {
    [ui.a, ui.b] = [subjects(), subjects()];
    for (const part of ["tables", "ledger", "command"]) place[part] = element("div");
    place.verdict = element("section", { "aria-label": "Verdict" });
    const section = (title, ...parts) =>
      element("section", { "aria-label": title }, element("h2", {}, title), ...parts);
    page.replaceChildren(
      element("div", { class: "card chooser" },
        field("A (base)", ui.a), button("⇄ Swap", swap), field("B (head)", ui.b)),
      place.verdict,
      section("What differs", filters(), place.tables),
      section("Function by function", place.ledger),
      section("Repeat it", place.command));
  }

  /* The address */

  function remember() {
    const all = { a: sides.a.code, b: sides.b.code, cell: chosenCell() };
    for (const name of FILTERS) all[name] = ui[name]?.value.trim() ?? "";
    const words = SHOWS.filter((word) => ui.show[word].checked);
    if (words.length < SHOWS.length) all.show = words.length ? words : "none";
    observatory.choose(all);
  }

  function restore() {
    const address = observatory.choices(), { a, b, said } = asked(address);
    [ui.a.value, ui.b.value] = [a.code, b.code];
    notes.replaceChildren(...said.map(problem));
    for (const control of FILTERS.map((name) => ui[name]).filter(Boolean)) control.value = "";
    if (!/^\d+(\.\d+)?$/.test(address.least?.[0])) delete address.least;
    for (const name of FILTERS.filter((each) => ui[each] && address[each])) {
      ui[name].value = address[name][0];
      if (ui[name].selectedIndex === -1) ui[name].value = "";
    }
    for (const word of SHOWS) ui.show[word].checked = !address.show || address.show.includes(word);
    return update(address.cell?.[0]);
  }

  /** Load what the two chosen subjects have, and draw all of it. */
  async function update(cell) {
    const mine = ++turn, chosen = { a: subject(ui.a.value), b: subject(ui.b.value) };
    const codes = [chosen.a.code, chosen.b.code];
    const files = [chosen.a, chosen.b].map(({ line, number }) =>
      `at-${line}-${Math.floor(number / site.block)}`);
    const isFinished = withPairs[codes[1]]?.includes(codes[0]);
    if (isFinished) files.push(`pairs-${codes[1]}`);
    if (codes.every((code) => withLedger[code])) {
      files.push(...codes.map((code) => `ledger-${code}`));
    }
    let found;
    try {
      found = await Promise.all(files.map(load));
    } catch (error) {
      if (mine === turn) complain(error);
      return;
    }
    if (mine !== turn) return;
    sides = chosen;
    pair = isFinished ? judge.unpacked(found.splice(2, 1)[0], codes[0]) : null;
    ledgers = found.length > 2 ? found.slice(2) : null;
    const [atA, atB] = [chosen.a, chosen.b].map(({ line, number }, i) =>
      judge.numbered(index, line, found[i][number]));
    const why = apart(sides);
    const cpus = site.lines[sides.a.line].cpu !== site.lines[sides.b.line].cpu;
    rows = judge.compared(index, site.rules, atA, atB, { why, cpus, pair, least: site.run });
    const stopped = ledgers ? ledger.stopped(ledgers) : undefined;
    summary = judge.verdict(rows, sides, { why, pair, partial: partial(), stopped });
    drawVerdict();
    drawTables();
    buildLedger(cell);
    place.command.replaceChildren(
      ...repeating(sides, index.name.some((name) => ours(name))), ...profiling());
    remember();
  }

  function complain(error) {
    rows = null;
    for (const part of Object.values(place)) part.replaceChildren();
    if (place.verdict) place.verdict.className = "";
    notes.replaceChildren(problem(`Nothing can be compared: ${error.message}.`));
    observatory.say(notes.textContent);
  }

  async function start() {
    try {
      let rules;
      [site, rules, index, withLedger, withPairs, profiles] = await Promise.all([
        observatory.lines(), load("rules"), observatory.columns("index"),
        ...["ledgers", "pairs", "profiles"].map(load)]);
      site = { ...site, ...rules };
    } catch (error) {
      complain(error);
      return;
    }
    if (!site.lines.some((line) => line.subjects.length)) {
      page.replaceChildren(quiet("Nothing has been measured yet."));
      return;
    }
    learn(site.phrases);
    build();
    observatory.compareMarkdown = markdown;
    window.addEventListener("hashchange", restore);
    await restore();
  }

  start();
})();
