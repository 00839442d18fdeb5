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

/* The address after # holds choices, which a link to the content must not replace. */
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});

/* Buttons that copy. */
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => observatory.copy(button.dataset.copy, button));
}

/* Search over every series: what searches is loaded when somebody begins to. */
(() => {
  const { element, script } = observatory;
  const place = document.getElementById("search");
  const input = element("input", {
    type: "search", id: "search-words", placeholder: "Search series  /", autocomplete: "off",
    role: "combobox", "aria-expanded": "false", "aria-autocomplete": "list", "aria-label": "Search all series",
  });
  input.addEventListener("focus", () => script("search").catch((error) => {
    place.append(element("div", { class: "found" }, error.message));
  }), { once: true });
  place.append(input);
  place.hidden = false;
})();

/* Keys: "/" searches, "?" says which keys there are, "g" and a letter go to a page. */
(() => {
  const pages = [...document.querySelectorAll("header nav a")];
  const keys = new Map(pages.map((link) => [link.dataset.key, link]));
  let going = false;

  async function help() {
    await observatory.script("keys");
    observatory.showKeys(keys);
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
