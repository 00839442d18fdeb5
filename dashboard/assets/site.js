/* What every page has: data files, state in the address, time that passes, search, keys, copying.
   Nothing here is needed to read a page. Pages open from file://, so data come as scripts that
   call `observatory.receive`; texts in them are strangers' and only ever become text nodes. */
"use strict";

const observatory = (() => {
  const root = document.documentElement.dataset.root || "";
  const waiting = new Map();

  /** The content of data/NAME.js; each file is loaded once. */
  function load(name) {
    return once(`data/${name}`, false);
  }

  /** Run assets/NAME.js, once. */
  function script(name) {
    return once(`assets/${name}`, true);
  }

  function once(path, whole) {
    if (!waiting.has(path)) {
      const entry = {};
      entry.promise = new Promise((resolve, reject) => {
        entry.resolve = resolve;
        const made = document.createElement("script");
        made.src = `${root}${path}.js`;
        if (whole) made.onload = resolve;
        made.onerror = () => reject(new Error(`${path}.js is missing: the site was rebuilt ` +
          "after this page was opened, or copied only in part"));
        document.head.append(made);
      });
      waiting.set(path, entry);
    }
    return waiting.get(path).promise;
  }

  /** Called by each data file. */
  function receive(name, content) {
    waiting.get(`data/${name}`)?.resolve(content);
  }

  /** The columns of a data file, each as a list; one whose values recur is kept shorter. */
  async function columns(name) {
    return Object.fromEntries(Object.entries(await load(name)).map(([key, one]) => {
      if (!one?.of) return [key, one];
      const { of, at } = one;
      return [key, Array.isArray(at) ? at.map((k) => of[k]) : new Array(at).fill(of[0])];
    }));
  }

  let known = null;

  /** All lines; the subjects of each, oldest first, as [label, commit, date, versions, its address
      on the forge, what it is called there]. */
  function lines() {
    known ??= Promise.all(["lines", "subjects"].map(load)).then(([head, table]) => {
      const rows = table.commit.map((commit, k) => {
        const ref = table.ref[k] === 1 ? commit : table.ref[k];
        const base = ref === commit ? head.commit_url : head.tag_url;
        return [table.label[k] || commit.slice(0, 8), commit,
          new Date(table.date[k] * 1000).toISOString().replace(".000Z", "Z"),
          table.texts[table.versions[k]], base && ref ? base + encodeURI(ref) : "", ref];
      });
      return { ...head, lines: head.lines.map((line) => ({ ...line, subjects: line.subjects.map((k) => rows[k]) })) };
    });
    return known;
  }

  /** An element with attributes and children; strings become text. */
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value === true) made.setAttribute(name, "");
      else if (value !== false && value != null) made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child != null));
    return made;
  }

  /** The choices that the address holds after its #, as lists of words by key. */
  function choices() {
    const found = Object.create(null); // a key may have the name of anything that objects have
    for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
      (found[key] ??= []).push(value);
    }
    return found;
  }

  /** Put choices into the address: keys in a fixed order, empty ones left out. */
  function choose(all) {
    const written = new URLSearchParams();
    for (const key of Object.keys(all).sort()) {
      for (const value of [].concat(all[key] ?? [])) if (value !== "") written.append(key, value);
    }
    const text = `#${written}`;
    if (text !== location.hash) history.replaceState(null, "", text);
  }

  /** Say something to those who do not see the page change. */
  function say(text) {
    const place = document.getElementById("said");
    if (place) place.textContent = text;
  }

  async function copy(text, button) {
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      const area = element("textarea", { class: "hidden", "aria-hidden": "true" });
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    const before = button.dataset.label ??= button.textContent;
    button.textContent = done ? "Copied" : "Not allowed: copy it by hand";
    say(button.textContent);
    setTimeout(() => { button.textContent = before; }, 1600);
  }

  return { root, load, script, receive, columns, lines, element, choices, choose, say, copy };
})();

/* Time that passes: pages are built once and read later. */
(() => {
  const minute = 60_000, hour = 60 * minute, day = 24 * hour;

  function ago(age) {
    if (age < minute) return "just now";
    if (age < 90 * minute) return `${Math.round(age / minute)} min ago`;
    if (age < 2 * day) return `${Math.round(age / hour)} h ago`;
    return `${Math.floor(age / day).toLocaleString("en")} days ago`;
  }

  for (const time of document.querySelectorAll("time[data-ago]")) {
    const age = Date.now() - Date.parse(time.dateTime);
    if (age < 0) continue;
    time.title = time.textContent;
    time.textContent = ago(age);
  }
  const stale = document.getElementById("site-age");
  const age = Date.now() - Date.parse(stale?.dataset.newest);
  if (age > Number(stale?.dataset.after) * 1000) {
    stale.hidden = false;
    for (const status of document.querySelectorAll(".verdict.good > .status")) {
      status.parentElement.className = "verdict unknown";
      status.textContent = "? Stale";
    }
    stale.textContent = `Stale: the newest sample on this page is ${ago(age).replace(" ago", "")} old.`;
  }
})();

/* On a phone the navigation is folded. Without a script it is open. */
if (matchMedia("(max-width: 640px)").matches) {
  for (const menu of document.querySelectorAll(".menu")) menu.open = false;
}

/* Buttons that copy. */
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => observatory.copy(button.dataset.copy, button));
}

/* Search over every series; its index is loaded when somebody begins to search. */
(() => {
  const { columns, element, load, root } = observatory;
  const place = document.getElementById("search");
  const MOST = 12;
  let texts, index, lines, asked, found = [], chosen = -1;

  const input = element("input", {
    type: "search", id: "search-words", placeholder: "Search series  /", autocomplete: "off",
    role: "combobox", "aria-expanded": "false", "aria-controls": "search-found",
    "aria-autocomplete": "list", "aria-label": "Search all series",
  });
  const list = element("div", { id: "search-found", role: "listbox", "aria-label": "Series found" });
  const note = element("p", { class: "quiet" });
  const box = element("div", { class: "found", hidden: true }, list, note);
  place.append(input, box);
  place.hidden = false;

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
    chosen = (chosen + step + found.length) % found.length;
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
    if (!does) return;
    event.preventDefault();
    does();
  });
  document.addEventListener("click", (event) => {
    if (!place.contains(event.target)) show([]);
  });
})();

/* Keys: "/" searches, "?" says which keys there are, "g" and a letter go to a page. */
(() => {
  const { element } = observatory;
  const pages = [...document.querySelectorAll("header nav a")];
  const keys = new Map(pages.map((link) => [link.dataset.key, link]));
  let going = false;

  function help() {
    const rows = [["/", "search all series"], ["?", "show this list"],
      ...[...keys].map(([key, link]) => [`g ${key}`, link.textContent.trim()])];
    const dialog = element("dialog", { class: "keys", "aria-labelledby": "keys-title" },
      element("h2", { id: "keys-title" }, "Keyboard shortcuts"),
      element("dl", {}, ...rows.map(([key, text]) => element("div", {}, element("dt", {}, element("kbd", {}, key)), element("dd", {}, text)))),
      element("button", { type: "button", onclick: () => dialog.close() }, "Close"));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select, textarea, dialog")) return;
    const was = going;
    going = false;
    if (event.key === "/") {
      event.preventDefault();
      document.getElementById("search-words").focus();
    } else if (event.key === "?") help();
    else if (event.key === "g") going = true;
    else if (was) keys.get(event.key)?.click();
  });
})();
