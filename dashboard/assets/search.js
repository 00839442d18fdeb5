/* Search over every series, which site.js loads with the first use of its box. Texts are strangers' and
   only ever become text nodes. */
"use strict";

(() => {
  const { columns, element, load, root } = observatory;
  const place = document.getElementById("search"), input = document.getElementById("search-words");
  const MOST = 12;
  let texts, index, lines, asked, found = [], chosen = -1;

  const list = element("div", { id: "search-found", role: "listbox", "aria-label": "Series found" });
  const note = element("p", { class: "quiet" });
  const box = element("div", { class: "found", hidden: true }, list, note);
  place.append(box);
  input.setAttribute("aria-controls", list.id);

  /** Load the index once, also for those who ask again while it loads. */
  const ready = () => asked ??= read().catch((error) => {
    asked = undefined;
    show([], error.message);
  });

  async function read() {
    index = await columns("index");
    // Where several machines measured the same, a name alone says too little.
    if (new Set(index.line).size > 1) lines = (await load("lines")).lines;
    const where = (i) => (lines ? `${lines[index.line[i]].machine} ${lines[index.line[i]].env}` : "");
    texts = index.name.map((name, i) => `${name} ${index.metric[i]} ${where(i)}`.toLowerCase());
  }

  async function search() {
    await ready();
    if (!texts) return;
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const whole = [], part = [];
    for (let i = 0; words.length && i < texts.length; i += 1) {
      if (!words.every((word) => texts[i].includes(word))) continue;
      const own = texts[i].split(" ");
      (words.every((word) => own.includes(word)) ? whole : part).push(i);
    }
    const all = whole.length + part.length;
    found = [...whole, ...part].slice(0, MOST);
    chosen = -1;
    const more = all > found.length ? `and ${all - found.length} more: type another word` : "";
    show(found.map(option), words.length && !all ? "No series contains all these words." : more);
    observatory.say(words.length ? `${all} series found` : "");
  }

  function option(i, n) {
    const line = lines?.[index.line[i]];
    return element("div",
      { role: "option", id: `search-${n}`, "aria-selected": "false", onclick: () => go(i) },
      index.name[i], " ", element("b", {}, index.metric[i]),
      line && element("small", {}, [line.machine, line.env, line.era].filter(Boolean).join(", ")));
  }

  function show(options, said = "") {
    list.replaceChildren(...options);
    note.textContent = said;
    box.hidden = !options.length && !said;
    input.setAttribute("aria-expanded", String(options.length > 0));
    input.removeAttribute("aria-activedescendant");
  }

  function choose(step) {
    if (!found.length) return;
    chosen = (Math.max(chosen, step < 0 ? 0 : -1) + step + found.length) % found.length;
    [...list.children].forEach((item, n) => {
      item.setAttribute("aria-selected", String(n === chosen));
      if (n === chosen) item.scrollIntoView({ block: "nearest" });
    });
    input.setAttribute("aria-activedescendant", `search-${chosen}`);
  }

  function go(i) {
    show([]);
    input.blur();
    location.href = `${root}series.html#s=${index.id[i]}`;
  }

  function open() {
    if (found.length && !box.hidden) go(found[Math.max(chosen, 0)]);
  }

  input.addEventListener("focus", ready);
  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    const does = { ArrowDown: () => choose(1), ArrowUp: () => choose(-1), Enter: open,
      Escape: () => { input.value = ""; show([]); input.blur(); } }[event.key];
    if (event.key === "Tab") show([]);
    if (!does) return;
    event.preventDefault();
    does();
  });
  document.addEventListener("click", (event) => {
    if (!place.contains(event.target)) show([]);
  });
  if (input.value) search();
  else ready();
})();
