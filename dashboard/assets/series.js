/* The series page: what is chosen, the cursor, and the pinned points A and B. All that is chosen is
   in the address. series-chart.js draws, series-words.js and series-numbers.js write. Without a choice
   series-grid.js shows all series. */
"use strict";

(() => {
  const { element, say, seriesAxes, seriesChart, seriesFiles, seriesHand, seriesLayout,
    seriesWords } = observatory;
  const { MOST } = seriesFiles, PAPER = 680; // pixels
  const KIN = ["environments", "parameters", "metrics"];
  const place = (id) => document.getElementById(id);
  const form = place("controls"), chart = place("chart");
  const page = { data: null, found: [], series: [], slots: [], places: new Map() };
  const brand = document.title.split(" · ").slice(1).join(" · ");
  let chosen = {}, drawn = null, strip = null, cursor = null, tipped = null, printing = false;

  /* What is chosen. */

  function read() {
    const all = observatory.choices();
    const first = (key) => all[key]?.[0] ?? "";
    const among = (key, known) => (known.includes(first(key)) ? first(key) : "");
    return {
      s: [...new Set(all.s)], hide: new Set(all.hide), off: new Set(all.off),
      scale: among("scale", ["linear", "log"]), by: among("by", ["date", "subject"]),
      with: all.with ? all.with.filter((word) => KIN.includes(word)) : null, of: among("of", ["first", "newest"]),
      from: first("from"), to: first("to"), a: first("a"), b: first("b"),
    };
  }

  function write() {
    const beside = chosen.with && (chosen.with.length ? chosen.with : "none");
    observatory.choose({ ...chosen, with: beside, hide: [...chosen.hide], off: [...chosen.off] });
  }

  /** What is shown beside a single series: where else it was measured, and with what else. */
  const overlaid = () =>
    chosen.with ?? (chosen.s.length === 1 ? ["environments", "parameters"] : []);
  /** As chosen; else logarithmic where overlaid series are far apart, and linear. */
  const scale = () => chosen.scale || (seriesAxes.farApart(shown()) ? "log" : "linear");
  const byDate = () => (chosen.by || page.data.axis) === "date";

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
    if (place("more").open) {
      form.elements.from.value = page.slots[from].name;
      form.elements.to.value = page.slots[to].name;
    }
    place("canvas").dataset.span = `${from} ${to}`;
    place("reset").disabled = from === 0 && to === last;
  }

  /** Choose one of a group of radio buttons; setting the value of the group ignores "". */
  function check(name, value) {
    for (const radio of form.elements[name]) radio.checked = radio.value === value;
  }

  function fillForm() {
    check("scale", scale());
    check("of", chosen.of);
    for (const box of form.elements.show) box.checked = !chosen.off.has(box.value);
    check("by", byDate() ? "date" : "subject");
    for (const box of form.elements.with) {
      box.checked = overlaid().includes(box.value);
      const many = page.found.reduce((sum, one) => sum + (one.kin?.[box.value]?.length ?? 0), 0);
      box.disabled = !many;
      box.nextElementSibling.textContent = many ? `(${many})` : "(none)";
    }
    fillSpan();
    setSpan(...span());
  }

  /** The lists of all subjects are long: they are filled when they are seen. */
  function fillSpan() {
    if (!place("more").open) return;
    for (const name of ["from", "to"]) {
      form.elements[name].replaceChildren(...page.slots
        .map((slot) => element("option", { value: slot.name }, slot.label)));
    }
  }

  /* What there is to show. */

  /** The series beside the chosen ones, as far as there is room. */
  async function fetchKin(found) {
    const known = new Set(found.map((one) => one.id));
    const kinds = overlaid().map((kind) => found.flatMap((one) => one.kin?.[kind] ?? []));
    const longest = Math.max(0, ...kinds.map((ids) => ids.length));
    const ids = Array.from({ length: longest }, (_, i) => kinds.map((each) => each[i])).flat(); // of each kind
    const more = [...new Set(ids)].filter((id) => id != null && !known.has(id)).slice(0, MOST - found.length);
    return (await seriesFiles.get(more)).map((one) => ({ ...one, kin: true, own: one.steps, steps: [], events: [] }));
  }

  function layOut(series) {
    page.slots = seriesLayout.slotsOf(page.data.lines, series);
    page.places = seriesLayout.namesOf(page.slots);
    const several = new Set(series.map((one) => one.line)).size > 1;
    page.series = series.map((one, ...rest) => ({
      ...seriesLayout.prepared(page.slots, one, ...rest),
      full: one.metric + (several ? `, ${seriesWords.environment(page, one.line)}` : ""),
    }));
  }

  /* The cursor and the pinned points. */

  function point(x, event = null, aloud = false) {
    const [from, to] = span();
    const at = x == null ? null : Math.min(Math.max(x, from), to);
    showTip(at, event);
    if (at === cursor && !aloud) return;
    cursor = at;
    mark();
    if (aloud) say(seriesWords.spoken(shown(), page.slots[at]));
  }

  /** What is at the pointer, beside it. */
  function showTip(at, event) {
    const tip = place("tip");
    tip.hidden = at == null || !event || event.pointerType === "touch";
    if (tip.hidden) return;
    if (at !== tipped) tip.replaceChildren(...seriesWords.tip(page, shown(), page.slots[at]));
    tipped = at;
    const box = chart.getBoundingClientRect(), left = event.clientX - box.left;
    const flip = left > box.width / 2;
    tip.style.left = flip ? "auto" : `${left + 16}px`;
    tip.style.right = flip ? `${box.width - left + 16}px` : "auto";
    tip.style.top = `${Math.max(4, event.clientY - box.top - tip.offsetHeight - 12)}px`;
  }

  let before = [["", ""], ["", ""]]; // what was pinned, two clicks ago and one

  /** Pin a point; a pinned one is unpinned; a third one takes the place of B. */
  function pin(x) {
    const slot = page.slots[x ?? -1];
    if (!slot) return;
    before = [before[1], [chosen.a, chosen.b]];
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

  /** A double click shows the whole history; its two clicks pin nothing. */
  function twice() {
    [chosen.a, chosen.b] = before[0];
    wholeHistory();
    mark();
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
    const zooms = { "+": 0.6, "=": 0.6, "-": 1.6 };
    if (Object.hasOwn(moves, event.key)) point(moves[event.key], null, true);
    else if (Object.hasOwn(zooms, event.key)) zoom(zooms[event.key]);
    else if (event.key === "0") wholeHistory();
    else if (event.key === "Enter") pin(at);
    else if (event.key === "Escape") unpin();
    else return;
    event.preventDefault();
  }

  /* Drawing. */

  let asked = 0, timer = 0;

  /** Draw again; several wishes at a time are one drawing. */
  function redraw() {
    asked ||= requestAnimationFrame(() => {
      draw();
      mark();
    });
  }

  function draw() {
    cancelAnimationFrame(asked);
    asked = 0;
    tipped = null;
    const series = shown(), canvas = place("canvas");
    const impossible = cannot(series);
    place("cannot").hidden = !impossible;
    place("cannot").textContent = impossible;
    drawn?.remove();
    canvas.replaceChildren(...(series.length ? [] : [element("p", { class: "nothing" }, "Every series is hidden.")]));
    const view = viewOf(series, canvas);
    drawn = series.length ? seriesChart.draw(canvas, view) : null;
    strip = series.length ? seriesHand.strip(place("strip"), view) : null;
  }

  function viewOf(series, canvas) {
    const alone = new Set(series.map((one) => one.unit)).size === 1;
    const narrow = matchMedia("(max-width: 640px)").matches, { slots } = page;
    const releases = slots.filter((slot) => slot.release);
    return {
      series, slots, xs: seriesLayout.xsOf(slots, byDate()), byDate: byDate(),
      releases: byDate() || releases.length < slots.length ? releases : [],
      span: span(), scale: scale(), of: chosen.of, off: chosen.off, width: width(),
      height: !alone ? 250 : narrow ? 300 : 380,
      tell: { point, pin, twice, span: moved, drawn: () => performance.mark("drawn"), focused: () => chart.contains(document.activeElement) },
    };
  }

  /** What cannot be drawn as chosen. */
  function cannot(series) {
    const zeros = series.filter((one) => scale() === "log" && one.v.some((value) => value <= 0));
    const bare = series.filter((one) => chosen.of && !seriesAxes.reference(one, chosen.of));
    return [
      ...zeros.map((one) => `${one.name}, ${one.metric}: a logarithmic scale shows only values above 0.`),
      ...bare.map((one) => `${one.name}, ${one.metric}: its level is 0, so there are no percentages.`),
    ].join(" ");
  }

  /** Show another span, without drawing anew. */
  function moved(from, to) {
    setSpan(from, to);
    drawn?.show(span());
    strip?.show(span());
    clearTimeout(timer);
    timer = setTimeout(write, 200); // browsers refuse an address that changes with every frame
  }

  function zoom(factor) {
    if (!drawn) return;
    const [from, to] = span(), middle = cursor ?? Math.round((from + to) / 2);
    moved(...seriesHand.closer(drawn.view, middle, factor));
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

  function head(name) {
    place("name").textContent = name;
    document.title = `${name} · ${brand}`;
  }

  async function start() {
    const asked = chosen = read();
    cursor = null;
    clearTimeout(timer);
    place("problems").replaceChildren();
    place("problems").hidden = true;
    place("grid").hidden = chosen.s.length > 0;
    place("series").hidden = !chosen.s.length;
    const wanted = chosen.s.slice(0, MOST);
    if (!wanted.length) {
      head("All series");
      const lists = element("a", { href: `${observatory.root}list/001.html` }, "lists");
      place("about").replaceChildren("Each card is a series; its colour tells its newest change. Also as ", lists, ".");
      await observatory.script("series-grid");
      await observatory.seriesGrid.show(place("grid"));
      return;
    }
    if (wanted.length < chosen.s.length) {
      problem(`The first ${MOST} of ${chosen.s.length} series are shown.`);
    }
    const [found, data] = await Promise.all([seriesFiles.get(wanted), observatory.lines()]);
    page.data = data;
    if (asked !== chosen) return; // another address came meanwhile
    for (const id of wanted.filter((each) => !found.some((one) => one.id === each))) {
      problem("No series has the id ", element("code", {}, id), ". It may have been renamed or " +
        "removed, or the link is cut short. Look for it in ", ...elsewhere());
    }
    place("series").hidden = !found.length;
    if (!found.length) return;
    page.found = found;
    const waiting = fetchKin(found), atHand = await soon(waiting);
    layOut([...found, ...(atHand ?? [])]);
    show();
    const kin = atHand ?? await waiting;
    if (asked !== chosen || kin === atHand || !kin.length) return;
    layOut([...found, ...kin]);
    show();
  }

  /** What a promise holds if its files are loaded already, and null if they are not. */
  function soon(promise) {
    return Promise.race([promise, new Promise((done) => setTimeout(done, 0, null))]);
  }

  /** Other series beside the chosen ones. */
  async function overlay() {
    const asked = chosen, kin = await fetchKin(page.found);
    if (asked !== chosen) return;
    layOut([...page.found, ...kin]);
    show();
  }

  function show() {
    const [one] = page.found, alone = page.found.length === 1;
    const metrics = [...new Set(page.found.map((each) => each.metric))].join(", ");
    head(alone ? one.name : `${page.found.length} series`);
    const where = alone ? `, measured in ${seriesWords.environment(page, one.line)}` : "";
    place("about").textContent = metrics + where;
    draw();
    afterPainting(() => {
      fillForm();
      fillKeys();
      place("facts").replaceChildren(...page.series.filter((each) => each.kin !== true)
        .map((each) => seriesWords.facts(page, each)));
      fillTable();
      mark();
      performance.mark("told");
    });
  }

  let rest = 0;

  /** Words are written when the chart is on the screen. */
  function afterPainting(write) {
    clearTimeout(rest);
    requestAnimationFrame(() => { rest = setTimeout(write); });
  }

  function fillKeys() {
    place("keys").replaceChildren(...page.series.map((one) => element("button", {
      type: "button", class: one.kin === true ? "kin" : "", "aria-pressed": String(!chosen.hide.has(one.id)),
      onclick: (event) => toggle(one, event.currentTarget),
    }, seriesWords.swatch(one), element("span", {}, one.name, element("small", {}, one.full)))));
  }

  function toggle(one, button) {
    if (!chosen.hide.delete(one.id)) chosen.hide.add(one.id);
    button.setAttribute("aria-pressed", String(!chosen.hide.has(one.id)));
    check("scale", scale());
    fillTable();
    write();
    redraw();
  }

  async function fillTable() {
    const { open } = place("numbers");
    if (open) await Promise.all(["compare-words", "series-numbers"].map(observatory.script));
    place("table").replaceChildren(...(open ? observatory.seriesNumbers.shown({ ...page, series: shown() }) : []));
  }

  function onChange() {
    const data = new FormData(form);
    if (data.get("scale") !== scale()) chosen.scale = data.get("scale");
    chosen.of = data.get("of");
    const off = [...form.elements.show].filter((box) => !box.checked);
    chosen.off = new Set(off.map((box) => box.value));
    chosen.by = data.get("by") === page.data.axis ? "" : data.get("by");
    if (place("more").open && data.has("from")) {
      setSpan(page.places.get(data.get("from")), page.places.get(data.get("to")));
    }
    const beside = data.getAll("with"), before = overlaid();
    if (beside.join() !== before.join()) {
      chosen.with = beside;
      overlay().catch((error) => problem(error.message));
    } else redraw();
    write();
  }

  function restart() {
    start().catch((error) => problem(error.message));
  }

  function wholeHistory() {
    moved(0, page.slots.length - 1);
  }

  /* To others, and onto paper. */

  function copyLink(event) {
    write();
    observatory.copy(location.href, event.currentTarget);
  }

  /** Save what is shown; what makes it is loaded when somebody asks for it. */
  async function save(made) {
    write();
    await observatory.script("series-share");
    await observatory.seriesShare[made](page, shown(), drawn);
  }

  /** How wide the charts are drawn: paper is as wide as it is, whatever the screen is. */
  const width = () => (printing ? PAPER : place("canvas").clientWidth);

  /** Follow the width of the page, unless it is hidden. */
  function resize() {
    if (!drawn || !width() || width() === drawn.view.width) return;
    drawn.resize(width());
    if (!printing) strip.paint();
  }

  /** Paper is white, and what the screen does meanwhile, as to announce other colours, changes no width. */
  function onPaper(begins) {
    printing = begins;
    document.documentElement.classList.toggle("paper", printing);
    resize();
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", onChange);
  place("link").addEventListener("click", copyLink);
  for (const made of ["picture", "json"]) {
    place(made).addEventListener("click", () => save(made).catch((error) => problem(error.message)));
  }
  window.addEventListener("beforeprint", () => onPaper(true));
  window.addEventListener("afterprint", () => onPaper(false));
  place("numbers").addEventListener("toggle", fillTable);
  chart.addEventListener("keydown", onKey);
  chart.addEventListener("pointerdown", () => chart.focus({ preventScroll: true }));
  place("more").addEventListener("toggle", () => {
    fillSpan();
    if (page.slots.length) setSpan(...span());
  });
  place("closer").addEventListener("click", () => zoom(0.6));
  place("wider").addEventListener("click", () => zoom(1.6));
  place("reset").addEventListener("click", wholeHistory);
  new ResizeObserver(resize).observe(place("canvas"));
  matchMedia("(prefers-color-scheme: dark)")
    .addEventListener("change", () => page.series.length && show());
  window.addEventListener("hashchange", restart);
  restart();
})();
