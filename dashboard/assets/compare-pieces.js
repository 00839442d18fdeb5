/* What the compare page is put together from: names, controls, tables that grow, folded
   tables, rows, and the command that repeats a comparison. */
"use strict";

observatory.pieces = (() => {
  const { element, copy } = observatory;
  const { count, human, change } = observatory.units;
  const { clean, shorten } = observatory.words;
  const { GROUPS, LONGEST_NAME, LONGEST_LABEL, changeOf } = observatory.judge;
  const { OUTCOMES } = observatory.ledger;
  const MOST_ROWS = 500;

  /** An element with a name in it, in full where one points at it; it breaks after dots first. */
  function named(tag, attributes, text, most = LONGEST_NAME) {
    const short = shorten(text, most), full = clean(text);
    const parts = short.split(/(?<=[./:_,])(?=\w)/);
    return element(tag, { ...attributes, title: short === full ? null : full },
      ...parts.flatMap((part, i) => (i ? [element("wbr"), part] : [part])));
  }

  /** Words of ours and names of others as nodes. */
  function nodes(pieces) {
    return pieces.map((one) =>
      (one.name === undefined ? one : element("span", { class: "name" }, one.name)));
  }

  const quiet = (...words) => element("p", { class: "quiet" }, ...words);
  const problem = (text) => element("p", { class: "problems" }, text);

  function button(text, onclick) {
    return element("button", { type: "button", onclick }, text);
  }

  /** A button that copies what `what` returns. */
  function copying(text, what) {
    return button(text, (event) => copy(what(), event.currentTarget));
  }

  function field(text, control) {
    return element("label", { class: "field" }, element("span", {}, text), control);
  }

  /** A choice of values, each with the text that is shown of it where that is another. */
  function select(options, onchange) {
    return element("select", { onchange }, ...options.map(([value, text = value]) =>
      element("option", { value }, shorten(text, LONGEST_LABEL))));
  }

  /** A table that draws some hundred rows at a time. */
  function grid(title, says, heads, all, draw) {
    const body = element("tbody"), rest = element("p", { class: "rest" });
    const more = () => {
      const start = body.rows.length;
      body.append(...all.slice(start, start + MOST_ROWS).map(draw));
      const left = all.length - body.rows.length;
      const next = () => {
        const first = body.rows.length;
        more();
        // The pressed button is gone: the focus moves to the first new row.
        const on = rest.querySelector("button") ?? body.rows[first].querySelector("a");
        on?.focus({ preventScroll: true });
      };
      const label = `Show the next ${count(Math.min(left, MOST_ROWS))}`;
      rest.replaceChildren(...(left ? [`and ${count(left)} more `, button(label, next)] : []));
    };
    more();
    const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
    const caption = element("caption", {}, element("b", {}, title), ` ${says}`);
    const table = element("table", { class: "matrix compared" },
      caption, element("thead", {}, head), body);
    const within = { class: "scroll", role: "group", tabindex: "0", "aria-label": title };
    return element("div", {}, element("div", within, table), rest);
  }

  /** Something folded: drawn when it is first opened; it stays open when it is redrawn. */
  function folding(opened, name, title, says, draw) {
    const summary = element("summary", {}, element("b", {}, title), ` ${says}`);
    const made = element("details", { open: opened.has(name) }, summary);
    const unfold = () => {
      opened[made.open ? "add" : "delete"](name);
      if (made.open && made.childElementCount === 1) made.append(draw());
    };
    if (made.open) unfold();
    made.addEventListener("toggle", unfold);
    return made;
  }

  /** A series of the comparison as a row of a table. */
  function seriesRow(row) {
    const mark = { worse: ["bad", "✗"], better: ["good", "✓"] }[GROUPS.get(row.group)[0]];
    const main = changeOf(row), measured = change(row.base, row.head, row.unit);
    const levels = row.levels && `levels ${change(...row.levels, row.unit)}`;
    const small = main === measured ? levels : measured;
    const both = row.ids.map((id) => `s=${encodeURIComponent(id)}`).join("&");
    const link = row.ids.length ? named("a", { href: `series.html#${both}` }, row.name)
      : named("span", { class: "mono" }, row.name);
    const metric = shorten(row.metric, LONGEST_LABEL);
    if (row.ids.length) {
      link.setAttribute("aria-label", `${link.textContent}, ${metric}: its history`);
    }
    return element("tr", {},
      element("th", { scope: "row" }, link),
      named("td", { class: "mono" }, row.metric, LONGEST_LABEL),
      element("td", { class: "values" }, main, small ? element("small", {}, small) : null),
      element("td", { class: "words" }, mark
        ? element("span", { class: `flag ${mark[0]}` }, `${mark[1]} ${row.words}`) : row.words));
  }

  /** A function of two ledgers as a row of a table. */
  function functionRow(row) {
    const outcome = ([word, [number, seconds, bytes]]) => {
      const cost = human(seconds, "seconds") + (bytes ? `, ${human(bytes, "bytes")}` : "");
      const times = number === 1 ? "" : `${count(number)} × `;
      return element("p", {}, times + word, element("small", {}, cost));
    };
    const side = (one) => {
      const had = OUTCOMES.map((word) => [word, one[word]]).filter(([, [number]]) => number);
      return element("td", {}, ...had.map(outcome),
        had.length ? null : element("span", { class: "none" }, "absent"));
    };
    const name = named("th", { scope: "row", class: "function" }, row.name);
    return element("tr", {}, name, side(row.a), side(row.b));
  }

  /** A release with its further packages, which `observatory compare` takes as it is. */
  const RELEASE = /^\d+(\.\d+)+((a|b|rc|\.post|\.dev)\d+)?( [\w.-]+==[\w.+!-]+)*$/;

  const quoted = (text) =>
    (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);

  /** The command that compares the saved values of two subjects of another project. */
  const commandOfSaved = ({ a, b }) =>
    `observatory compare ${[a, b].map(({ label }) => quoted(`RESULTS:${clean(label)}`)).join(" ")}`;

  /** The command that measures both subjects; empty where one of them has no name for it. */
  function commandFor({ a, b }) {
    const labels = [a.label, b.label].map(clean), refs = [a.ref, b.ref];
    if (labels.every((one) => RELEASE.test(one))) {
      return `observatory compare ${labels.map(quoted).join(" ")}`;
    }
    const [more, others] = labels.map((one) => one.split(" ").slice(1));
    if (!refs.every(Boolean) || more.join() !== others.join()) return "";
    const words = [...refs, ...more.flatMap((one) => ["--with", one])];
    return `observatory compare --repo CLONE ${words.map(quoted).join(" ")}`;
  }

  /** How to measure both again. `ours`: whether any series is one of PyTensor's. */
  function repeating(sides, ours) {
    const text = ours ? commandFor(sides) : commandOfSaved(sides);
    if (!text) {
      return [quiet("One of the two is neither a release nor a commit, so no command can name it.")];
    }
    const clone = text.includes(" --repo CLONE ") ? "; CLONE is a clone of the project" : "";
    const said = ours ? `Measures both again, side by side, on your machine${clone}.`
      : "Compares what was saved, in a terminal; RESULTS is the directory of the results.";
    return [quiet(said), command(text)];
  }

  function command(text) {
    const focusable = { tabindex: "0", role: "group", "aria-label": "Command" };
    return element("div", { class: "command" },
      element("pre", focusable, element("code", {}, text)), copying("Copy the command", () => text));
  }

  /** How to draw a flame graph of what was saved. `machine`: empty if there is only one. */
  function drawing({ a, b }, machine) {
    const labels = [a.label, b.label].map(quoted).join(" ");
    const named = machine ? ` --machine ${quoted(machine)}` : "";
    return [
      quiet("Draws a flame graph of the cell whose work changed most. Run it in the directory that " +
        "holds results/."),
      command(`observatory profile ${labels}${named} --form html --out profile.html`),
    ];
  }

  return {
    named, nodes, quiet, problem, button, copying, field, select, grid, folding,
    seriesRow, functionRow, repeating, drawing,
  };
})();
