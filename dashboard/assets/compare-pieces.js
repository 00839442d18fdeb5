/* What the compare page is put together from: names, controls, tables that grow, folded tables. */
"use strict";

observatory.pieces = (() => {
  const { element, copy } = observatory;
  const { count } = observatory.units;
  const { clean, shorten } = observatory.words;
  const { LONGEST_NAME, LONGEST_LABEL } = observatory.judge;
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

  return { named, nodes, quiet, problem, button, copying, field, select, grid, folding };
})();
