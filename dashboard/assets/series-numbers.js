/* The numbers of the series page as a table, as Markdown and as CSV. */
"use strict";

observatory.seriesNumbers = (() => {
  const { element } = observatory;
  const { human } = observatory.units;
  const MOST_ROWS = 500;
  const SUBJECT = ["subject", "commit", "date"];
  const COLUMNS = ["value", "low", "high", "n", "level"];

  function cellsOf(one, slot, raw) {
    const i = one.value.get(slot.x);
    if (i === undefined) return COLUMNS.map(() => "");
    const text = (value) => (value == null ? "" : raw ? value : human(value, one.unit));
    const level = observatory.seriesAxes.levelAt(one, i);
    return [text(one.v[i]), text(one.lo?.[i]), text(one.hi?.[i]), one.n?.[i] ?? "", text(level)];
  }

  /** Rows of subjects with a value, newest first: `raw` for machines, else as people read them. */
  function rowsOf(page, raw) {
    const has = (slot) => (one) => one.value.has(slot.x);
    return page.slots.filter((slot) => page.series.some(has(slot))).reverse().map((slot) => [
      slot.label, raw ? slot.commit : slot.commit.slice(0, 10),
      raw ? slot.date : slot.date.slice(0, 10),
      ...page.series.flatMap((one) => cellsOf(one, slot, raw)),
    ]);
  }

  function headsOf(page) {
    const name = (one) => `${one.name} ${one.full} (${one.unit})`;
    const heads = page.series.flatMap((one) => COLUMNS.map((word) => `${name(one)}: ${word}`));
    return [...SUBJECT, ...heads];
  }

  function asMarkdown(page) {
    // Names of strangers are code, in which GitHub obeys nothing; the first column is a name, too.
    const code = (text) => observatory.words.code(text).replaceAll("|", "\\|");
    const heads = headsOf(page).map((text, i) => (i < SUBJECT.length ? text : code(text)));
    const named = rowsOf(page, false).map(([label, ...cells]) => [code(label), ...cells]);
    const rows = [heads, heads.map(() => "---"), ...named];
    return rows.map((row) => `| ${row.join(" | ")} |`).join("\n");
  }

  function asCsv(page) {
    const cell = (value) => {
      // A spreadsheet runs text that begins with one of these.
      const runs = typeof value === "string" && /^[=+\-@\t\r]/.test(value);
      return `"${runs ? "'" : ""}${String(value).replaceAll('"', '""')}"`;
    };
    const rows = [headsOf(page), ...rowsOf(page, true)];
    return rows.map((row) => row.map(cell).join(",")).join("\r\n");
  }

  function table(page) {
    const rows = rowsOf(page, false);
    const head = (text, more) => element("th", { scope: "col", ...more }, text);
    const row = ([label, ...cells]) => element("tr", {}, element("th", { scope: "row" }, label),
      ...cells.map((text) => element("td", {}, String(text))));
    const group = { scope: "colgroup", colspan: COLUMNS.length };
    const names = page.series.map((one) => head(`${one.name}, ${one.full}`, group));
    return element("table", { class: "numbers" },
      element("thead", {},
        element("tr", {}, ...SUBJECT.map((text) => head(text, { rowspan: 2 })), ...names),
        element("tr", {}, ...page.series.flatMap(() => COLUMNS.map((text) => head(text))))),
      element("tbody", {}, ...rows.slice(0, MOST_ROWS).map(row)));
  }

  /** The table and the buttons above it. */
  function shown(page) {
    const copying = (text, made) => element("button", {
      type: "button", onclick: (event) => observatory.copy(made(page), event.currentTarget),
    }, text);
    const all = rowsOf(page, false).length;
    const more = `The newest ${MOST_ROWS} of ${all} rows are here; the copies have all.`;
    return [
      element("p", { class: "actions" }, copying("Copy as Markdown", asMarkdown),
        copying("Copy as CSV", asCsv), all > MOST_ROWS ? more : ""),
      element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The numbers" },
        table(page)),
    ];
  }

  return { shown };
})();
