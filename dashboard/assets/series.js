/* The series page: what is chosen, the cursor, and the pinned points A and B. All that is chosen is
   in the address. series-chart.js draws, series-words.js and series-numbers.js write. */
"use strict";

(() => {
  const { element, load, say, seriesAxes, seriesChart, seriesNumbers, seriesWords } = observatory;
  const MOST = 12;
  const place = (id) => document.getElementById(id);
  const form = place("controls"), chart = place("chart");
  const page = { data: null, series: [], slots: [], starts: [], places: new Map() };
  let chosen = {}, drawn = null, cursor = null;

  /* What is chosen. */

  function read() {
    const all = observatory.choices();
    const first = (key) => all[key]?.[0] ?? "";
    const among = (key, known) => (known.includes(first(key)) ? first(key) : "");
    return {
      s: [...new Set(all.s)], hide: new Set(all.hide), off: new Set(all.off),
      scale: among("scale", ["log"]), of: among("of", ["first", "newest"]),
      from: first("from"), to: first("to"), a: first("a"), b: first("b"),
    };
  }

  function write() {
    observatory.choose({ ...chosen, hide: [...chosen.hide], off: [...chosen.off] });
  }

  const shown = () => page.series.filter((one) => !chosen.hide.has(one.id));
  const slotOf = (name) => page.slots[page.places.get(name)];

  function span() {
    const from = page.places.get(chosen.from) ?? 0;
    const to = page.places.get(chosen.to) ?? page.slots.length - 1;
    return [Math.min(from, to), Math.max(from, to)];
  }

  function setSpan(one, other) {
    const last = page.slots.length - 1;
    const from = Math.max(0, Math.min(one, other)), to = Math.min(last, Math.max(one, other));
    chosen.from = from === 0 ? "" : page.slots[from].name;
    chosen.to = to === last ? "" : page.slots[to].name;
    form.elements.from.value = page.slots[from].name;
    form.elements.to.value = page.slots[to].name;
  }

  /** Choose one of a group of radio buttons; setting the value of the group ignores "". */
  function check(name, value) {
    for (const radio of form.elements[name]) radio.checked = radio.value === value;
  }

  function fillForm() {
    check("scale", chosen.scale);
    check("of", chosen.of);
    for (const box of form.elements.show) box.checked = !chosen.off.has(box.value);
    for (const name of ["from", "to"]) {
      const groups = page.starts.map(({ line, start, count }) => {
        const options = page.slots.slice(start, start + count)
          .map((slot) => element("option", { value: slot.name }, slot.label));
        if (page.starts.length === 1) return options;
        return [element("optgroup", { label: seriesWords.environment(page, line) }, ...options)];
      });
      form.elements[name].replaceChildren(...groups.flat());
    }
    setSpan(...span());
  }

  /* What there is to show. */

  async function fetchSeries(ids) {
    page.data ??= await load("lines");
    const found = await Promise.all(ids.map(async (id) => {
      const { digits } = page.data;
      if (!/^[0-9a-f]+$/.test(id) || id.length < digits) return null;
      const file = await load(`series-${id.slice(0, digits)}`).catch(() => ({}));
      return Object.hasOwn(file, id) ? { id, ...file[id] } : null;
    }));
    return found.filter(Boolean);
  }

  /** Lines side by side along one axis, the one with the newest subject last. */
  function layOut(series) {
    const newest = (line) => page.data.lines[line].subjects.at(-1)?.[2] ?? "";
    const lines = [...new Set(series.map((one) => one.line))].sort((a, b) => a - b)
      .sort((a, b) => (newest(a) < newest(b) ? -1 : newest(a) > newest(b) ? 1 : 0));
    page.slots = [];
    page.starts = lines.map((line) => {
      const start = page.slots.length, { subjects } = page.data.lines[line];
      subjects.forEach(([words, commit, date, versions], k) => {
        const label = words.replace(/\s+/g, " ");
        const name = `${line}-${k}`;
        page.slots.push({ x: start + k, name, line, k, label, commit, date, versions });
      });
      return { line, start, count: subjects.length };
    });
    page.places = new Map(page.slots.map((slot) => [slot.name, slot.x]));
  }

  /** A series with where and how it is drawn, and its changes in words. */
  function prepared(raw, i, all) {
    const { start, count } = page.starts.find((each) => each.line === raw.line);
    const at = raw.at ?? raw.v.map((_, k) => k);
    const twin = (other) => other.colour === raw.colour && other.unit === raw.unit;
    const dash = all.slice(0, i).filter(twin).length;
    return {
      ...raw, at, start, count, value: new Map(at.map((k, index) => [k, index])),
      shape: seriesChart.SHAPES[i % seriesChart.SHAPES.length],
      dash: seriesChart.DASHES[dash % seriesChart.DASHES.length],
    };
  }

  /* The cursor and the pinned points. */

  function point(x, aloud = false) {
    const [from, to] = span();
    const at = x == null ? null : Math.min(Math.max(Math.round(x), from), to);
    if (at === cursor && !aloud) return;
    cursor = at;
    mark();
    if (aloud) say(seriesWords.spoken(shown(), page.slots[at]));
  }

  /** Pin a point; a pinned one is unpinned; a third one takes the place of B. */
  function pin(x) {
    const slot = page.slots[Math.round(x ?? -1)];
    if (!slot) return;
    if (chosen.a === slot.name) [chosen.a, chosen.b] = [chosen.b, ""];
    else if (chosen.b === slot.name) chosen.b = "";
    else chosen[slotOf(chosen.a) ? "b" : "a"] = slot.name;
    write();
    mark();
    const which = ["a", "b"].find((key) => chosen[key] === slot.name);
    const changes = [...place("between").querySelectorAll("li")].map((item) => item.textContent);
    const pinned = which && `is pinned as ${which.toUpperCase()}. ${changes.join(". ")}`;
    say(`${slot.label} ${pinned ?? "is no longer pinned"}`);
  }

  function unpin() {
    chosen.a = chosen.b = "";
    write();
    mark();
    say("Nothing is pinned");
    chart.focus({ preventScroll: true });
  }

  function mark() {
    const a = slotOf(chosen.a), b = slotOf(chosen.b);
    drawn?.mark({ cursor, a: a?.x, b: b?.x });
    const slot = page.slots[cursor] ?? a ?? page.slots[span()[1]];
    place("here").replaceChildren(...seriesWords.readout(page, shown(), slot, a));
    place("between").replaceChildren(...seriesWords.between(page, shown(), a, b, unpin));
  }

  function onKey(event) {
    if (event.target !== chart || event.ctrlKey || event.metaKey || event.altKey) return;
    const [from, to] = span(), at = cursor;
    const moves = {
      ArrowLeft: (at ?? to + 1) - 1, ArrowRight: (at ?? from - 1) + 1, Home: from, End: to,
    };
    if (Object.hasOwn(moves, event.key)) point(moves[event.key], true);
    else if (event.key === "Enter") pin(at);
    else if (event.key === "Escape") unpin();
    else return;
    event.preventDefault();
  }

  /* Drawing. */

  let queue = Promise.resolve(), asked = false, timer = 0;

  /** Draw again; several wishes at a time are one drawing. */
  function redraw() {
    if (asked) return;
    asked = true;
    queue = queue.then(draw)
      .catch((error) => problem(`The chart could not be drawn: ${error.message}`));
  }

  /** What was drawn stays until the new one is there. */
  async function draw() {
    asked = false;
    const series = shown(), fresh = element("div", { class: "incoming" });
    const impossible = cannot(series);
    place("cannot").hidden = !impossible;
    place("cannot").textContent = impossible;
    chart.append(fresh);
    const made = series.length ? await seriesChart.draw(fresh, viewOf(series, fresh)) : null;
    if (!made) fresh.append(element("p", { class: "nothing" }, "Every series is hidden."));
    drawn?.remove();
    drawn = made;
    fresh.className = "";
    chart.replaceChildren(fresh);
    drawn?.drag(form.elements.drag.value);
    drawn?.wheel(chart.contains(document.activeElement));
    mark();
  }

  function viewOf(series, fresh) {
    const alone = new Set(series.map((one) => one.unit)).size === 1;
    const narrow = matchMedia("(max-width: 640px)").matches;
    return {
      series, slots: page.slots, starts: page.starts, span: span(), scale: chosen.scale,
      of: chosen.of, off: chosen.off, width: fresh.clientWidth,
      height: !alone ? 280 : narrow ? 320 : 400, tell: { point, pin, span: moved },
    };
  }

  /** What cannot be drawn as chosen. */
  function cannot(series) {
    const zeros = series.filter((one) => chosen.scale && one.v.some((value) => value <= 0));
    const bare = series.filter((one) => chosen.of && !seriesAxes.reference(one, chosen.of));
    return [
      ...zeros.map((one) => `${one.name}, ${one.metric}: a logarithmic scale cannot show 0.`),
      ...bare.map((one) => `${one.name}, ${one.metric}: its level is 0, so there are no percentages.`),
    ].join(" ");
  }

  function moved(from, to) {
    setSpan(from, to);
    clearTimeout(timer);
    timer = setTimeout(settled, 200); // browsers refuse an address that changes with every frame
  }

  function settled() {
    write();
    if (drawn?.stale(span())) redraw();
  }

  /* The page. */

  function problem(...said) {
    place("problems").hidden = false;
    place("problems").append(element("p", {}, ...said));
  }

  function elsewhere() {
    const lists = element("a", { href: `${observatory.root}list/001.html` }, "the lists");
    return [lists, ", or search: press ", element("kbd", {}, "/"), "."];
  }

  async function start() {
    const asked = chosen = read();
    cursor = null;
    clearTimeout(timer);
    place("problems").replaceChildren();
    place("problems").hidden = place("series").hidden = true;
    const wanted = chosen.s.slice(0, MOST);
    if (!wanted.length) problem("No series is chosen. Choose one in ", ...elsewhere());
    if (wanted.length < chosen.s.length) {
      problem(`The first ${MOST} of ${chosen.s.length} series are shown.`);
    }
    const found = wanted.length ? await fetchSeries(wanted) : [];
    if (asked !== chosen) return; // another address came meanwhile
    for (const id of wanted.filter((each) => !found.some((one) => one.id === each))) {
      problem("No series has the id ", element("code", {}, id), ". It may have been renamed or " +
        "removed, or the link is cut short. Look for it in ", ...elsewhere());
    }
    layOut(found);
    page.series = found.map(prepared);
    if (found.length) show();
  }

  function show() {
    const [one] = page.series, alone = page.series.length === 1;
    const metrics = [...new Set(page.series.map((each) => each.metric))].join(", ");
    place("name").textContent = alone ? one.name : `${page.series.length} series`;
    const where = alone ? `, measured in ${seriesWords.environment(page, one.line)}` : "";
    place("about").textContent = metrics + where;
    document.title = `${place("name").textContent} · compile-cache observatory`;
    place("series").hidden = false;
    fillForm();
    fillKeys();
    place("facts").replaceChildren(...page.series.map((each) => seriesWords.facts(page, each)));
    fillTable();
    redraw();
  }

  function fillKeys() {
    place("keys").replaceChildren(...page.series.map((one) => {
      const where = page.starts.length > 1 ? `, ${seriesWords.environment(page, one.line)}` : "";
      return element("button", {
        type: "button", "aria-pressed": String(!chosen.hide.has(one.id)),
        onclick: (event) => toggle(one, event.currentTarget),
      }, seriesWords.swatch(one),
      element("span", {}, one.name, element("small", {}, one.metric + where)));
    }));
  }

  function toggle(one, button) {
    if (!chosen.hide.delete(one.id)) chosen.hide.add(one.id);
    button.setAttribute("aria-pressed", String(!chosen.hide.has(one.id)));
    write();
    redraw();
  }

  function fillTable() {
    place("table").replaceChildren(...(place("numbers").open ? seriesNumbers.shown(page) : []));
  }

  function onChange() {
    const data = new FormData(form);
    Object.assign(chosen, { scale: data.get("scale"), of: data.get("of") });
    const off = [...form.elements.show].filter((box) => !box.checked);
    chosen.off = new Set(off.map((box) => box.value));
    setSpan(page.places.get(data.get("from")), page.places.get(data.get("to")));
    write();
    redraw();
  }

  function restart() {
    start().catch((error) => problem(error.message));
  }

  function wholeHistory() {
    setSpan(0, page.slots.length - 1);
    write();
    redraw();
  }

  function copyLink(event) {
    write();
    observatory.copy(location.href, event.currentTarget);
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", onChange);
  place("whole").addEventListener("click", wholeHistory);
  place("link").addEventListener("click", copyLink);
  place("numbers").addEventListener("toggle", fillTable);
  chart.addEventListener("keydown", onKey);
  chart.addEventListener("pointerdown", () => chart.focus({ preventScroll: true }));
  // A page that scrolls must not stop at a chart: the wheel is the chart's while it has the focus.
  chart.addEventListener("focusin", () => drawn?.wheel(true));
  chart.addEventListener("focusout", () => drawn?.wheel(false));
  matchMedia("(prefers-color-scheme: dark)")
    .addEventListener("change", () => page.series.length && show());
  window.addEventListener("hashchange", restart);
  // Nor must a finger.
  if (matchMedia("(pointer: coarse)").matches) check("drag", "");
  Bokeh.logger.set_level("warn");
  restart();
})();
