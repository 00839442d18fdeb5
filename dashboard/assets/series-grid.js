/* All series as a grid of sparklines: filtered, grouped and sorted. Only the rows in sight are in the
   page, so that tens of thousands of series scroll as a few dozen do. */
"use strict";

observatory.seriesGrid = (() => {
  const { choices, columns, element, load, root } = observatory;
  const HEIGHTS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const CARD = 92, HEAD = 44, WIDEST = 250, BEYOND = 400; // pixels
  const MOST_PRINTED = 200; // rows
  const SORTS = {
    name: ["as listed", () => 0],
    when: ["latest change", (grid) => (a, b) => (grid.when[a] < grid.when[b] ? 1 : grid.when[a] > grid.when[b] ? -1 : 0)],
    impact: ["impact (size of the newest step)", (grid) => (a, b) => rank(grid, b) - rank(grid, a)],
    noise: ["noise", (grid) => (a, b) => (grid.noise[b] ?? -1) - (grid.noise[a] ?? -1)],
  };
  const GROUPS = { group: "module or model", backend: "backend", "": "nothing" };
  const USUAL = { words: "", state: "", by: "group", sort: "impact" }, NOTHING = "none";
  const STATES = { bad: "worse", doubt: "in doubt", good: "better", quiet: "as before" };
  let place = null, index = null, grid = null, lines = null, texts = [], rows = [], shown = new Map();

  /** What needs a person first, then by the size of the newest step. */
  const rank = (of, i) => (of.state[i] === "bad" ? 1e7 : 0) + of.impact[i];

  function field(label, control) {
    return element("label", { class: "field" }, element("span", {}, label), control);
  }

  function select(name, known) {
    const options = Object.entries(known).map(([value, text]) => element("option", { value }, text));
    return element("select", { name, onchange: changed }, ...options);
  }

  const form = () => place.querySelector("form");

  /** What the address asks for; as it begins where it asks for nothing. */
  function restore() {
    const asked = choices();
    for (const [name, usual] of Object.entries(USUAL)) {
      const field = form().elements[name];
      field.value = asked[name]?.[0] ?? usual;
      if (field.value === "" && field.options) field.value = asked[name]?.[0] === NOTHING ? "" : usual;
    }
  }

  /** Put what differs from the beginning into the address, and show it. */
  function changed() {
    const own = Object.fromEntries(Object.entries(USUAL).map(([name, usual]) => {
      const { value } = form().elements[name];
      return [name, value === usual ? "" : value || NOTHING];
    }));
    observatory.choose(own);
    arrange();
  }

  async function show(into) {
    if (place) { // another address, and the window may have another size by now
      if (form()) {
        restore();
        arrange();
      }
      return;
    }
    place = into;
    place.hidden = false;
    [index, grid, { lines }] = await Promise.all([columns("index"), columns("grid"), load("lines")]);
    const several = lines.length > 1;
    texts = index.name.map((name, i) => `${name} ${index.metric[i]} ${grid.backend[i]} ` +
      (several ? `${lines[index.line[i]].machine} ${lines[index.line[i]].env}` : ""));
    const sorts = Object.fromEntries(Object.entries(SORTS).map(([key, [text]]) => [key, text]));
    const states = { "": "any", ...STATES };
    const narrow = matchMedia("(max-width: 640px)").matches;
    place.append(
      element("details", { class: "card filters-of", open: !narrow },
        element("summary", {}, "Filter, group and sort"),
        element("form", { class: "filters", onsubmit: (event) => event.preventDefault() },
          field("Filter", element("input", { type: "search", name: "words", oninput: changed, placeholder: "words of a name, metric or machine" })),
          field("Change", select("state", states)), field("Group by", select("by", GROUPS)),
          field("Sort by", select("sort", sorts)))),
      element("div", { class: "grid-bar" },
        element("p", { class: "quiet", id: "grid-count", role: "status" }),
        element("button", { type: "button", onclick: (event) => observatory.copy(location.href, event.currentTarget) }, "Copy this view")),
      element("div", { class: "cards", role: "list", "aria-label": "Series" }));
    restore();
    window.addEventListener("beforeprint", () => paint(MOST_PRINTED));
    window.addEventListener("afterprint", () => paint());
    window.addEventListener("scroll", () => requestAnimationFrame(() => paint()), { passive: true });
    window.addEventListener("resize", () => place.hidden || arrange());
    arrange();
    performance.mark("drawn");
  }

  /** Put what passes the filters into rows with their heights. */
  function arrange() {
    const chosen = new FormData(place.querySelector("form"));
    const words = chosen.get("words").toLowerCase().split(/\s+/).filter(Boolean);
    const state = chosen.get("state"), by = chosen.get("by");
    const found = texts.map((_, i) => i).filter((i) => (!state || grid.state[i] === state) &&
      words.every((word) => texts[i].toLowerCase().includes(word)));
    const order = SORTS[chosen.get("sort")][1](grid);
    if (order) found.sort(order);
    const cards = place.querySelector(".cards");
    const columns = Math.max(1, Math.floor(cards.clientWidth / WIDEST));
    const groups = by ? [...Map.groupBy(found, (i) => grid[by][i] || "other")] : [["", found]];
    rows = [];
    let top = 0;
    for (const [name, members] of groups) {
      if (name) {
        rows.push({ top, name: `${name} (${members.length})`, height: HEAD });
        top += HEAD;
      }
      for (let k = 0; k < members.length; k += columns) {
        rows.push({ top, members: members.slice(k, k + columns), height: CARD });
        top += CARD;
      }
    }
    cards.style.height = `${top}px`;
    cards.style.setProperty("--columns", columns);
    place.querySelector("#grid-count").textContent =
      `${found.length.toLocaleString("en")} of ${texts.length.toLocaleString("en")} series`;
    for (const node of shown.values()) node.remove();
    shown = new Map();
    paint();
  }

  /** Keep the rows in sight in the page, and take the others out; `first`: of these rows instead. */
  function paint(first = 0) {
    const cards = place.querySelector(".cards"), seen = new Set();
    const from = first ? 0 : -cards.getBoundingClientRect().top - BEYOND;
    const to = first ? rows[Math.min(first, rows.length) - 1]?.top + 1 : from + innerHeight + 2 * BEYOND;
    for (let k = firstAt(from); k < rows.length && rows[k].top < to; k++) {
      seen.add(k);
      if (shown.has(k)) continue;
      const node = rowOf(rows[k]);
      node.style.transform = `translateY(${rows[k].top}px)`;
      const next = [...shown.keys()].filter((other) => other > k).sort((a, b) => a - b)[0];
      cards.insertBefore(node, next === undefined ? null : shown.get(next));
      shown.set(k, node);
    }
    for (const [k, node] of shown) {
      if (seen.has(k) || node.contains(document.activeElement)) continue;
      node.remove();
      shown.delete(k);
    }
  }

  function firstAt(y) {
    let low = 0, high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle].top + rows[middle].height < y) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function rowOf(row) {
    if (row.name) {
      return element("div", { class: "row", role: "listitem" }, element("h2", {}, row.name));
    }
    const cards = row.members.map((i) => element("div", { role: "listitem" }, cardOf(i)));
    return element("div", { class: "row", role: "presentation" }, ...cards);
  }

  function cardOf(i) {
    const line = lines[index.line[i]], where = lines.length > 1 ? `, ${line.machine} ${line.env}` : "";
    const state = grid.state[i], card = element("a",
      { class: `tile-of ${state}`, href: `${root}series.html#s=${index.id[i]}`, title: index.name[i] },
      element("span", { class: "of" }, index.name[i]),
      element("small", {}, index.metric[i] + where),
      element("span", { class: `move ${state}` }, grid.words[i]));
    const file = Math.floor(i / grid.per);
    load(`sparks-${file}`).then((sparks) => card.prepend(sparkOf(sparks[i - file * grid.per])), () => {});
    return card;
  }

  function sparkOf(code) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 100 30");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    const line = document.createElementNS(svg.namespaceURI, "polyline");
    const step = 98 / Math.max(1, code.length - 1);
    line.setAttribute("points", [...code].map((letter, k) =>
      `${(1 + k * step).toFixed(1)},${((HEIGHTS.indexOf(letter) / 61) * 30).toFixed(1)}`).join(" "));
    svg.append(line);
    return svg;
  }

  const here = (id) => document.getElementById(id);
  const alone = here("landing") ?? (choices().s ? null : here("grid"));
  if (alone) show(alone).catch((error) => alone.append(error.message));
  return { show };
})();
