/* The flame graph that Python has drawn, drawn again to zoom, search and walk in it by keyboard.
   Names are strangers' and only ever become text nodes and attributes. */
"use strict";

(() => {
  const { say, units } = observatory;
  const ROW = 18, NARROWEST = 1, LABELLED = 24;
  const LEVELS = [0.0001, 0.001, 0.01];

  /** The whole tree, from its rows: depth, number of the name, own weights in BASE and in HEAD. */
  function read({ names, rows }) {
    const known = names.split("\n"), chain = [], frames = [];
    for (const row of rows.split("\n")) {
      const [depth, name, ...own] = row.split(" ").map(Number);
      const frame = { name: known[name], depth, own, total: [...own], callees: [] };
      frame.caller = chain[depth - 1];
      frame.caller?.callees.push(frame);
      chain[depth] = frame;
      frames.push(frame);
    }
    for (const { caller, total } of frames.toReversed()) {
      if (caller) caller.total = caller.total.map((sum, side) => sum + total[side]);
    }
    return frames;
  }

  function changeClass([base, head], whole) {
    const level = LEVELS.filter((share) => Math.abs(head - base) >= share * whole).length;
    return head === base || level === 0 ? "" : (head > base ? "m" : "l") + level;
  }

  function svg(tag, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function start(figure) {
    const frames = read(figure.dataset), root = frames[0], whole = Math.max(...root.total);
    const unit = figure.dataset.unit, plot = figure.querySelector(".frames");
    const input = figure.querySelector("input[type=text]"), about = figure.querySelector(".about");
    const drawn = new Map();
    let top = root, current = root, side = 1, width = 0, found = new Set();

    const describe = ({ name, own, total }) => `${name}: own ${units.change(...own, unit)}, ` +
      `with callees ${units.change(...total, unit)}`;

    /** Where frames are, in pixels: the callers of the zoomed one over the whole width. */
    function* places() {
      const scale = width / (top.total[side] || 1);
      for (let caller = top.caller; caller; caller = caller.caller) yield [caller, 0, width];
      const pending = [[top, 0]];
      while (pending.length) {
        const [frame, x] = pending.pop();
        const wide = frame === top ? width : frame.total[side] * scale;
        if (wide < NARROWEST) continue;
        yield [frame, x, wide];
        let left = x;
        for (const callee of frame.callees) {
          pending.push([callee, left]);
          left += callee.total[side] * scale;
        }
      }
    }

    function box(frame, x, width) {
      const css = changeClass(frame.own, whole), full = { width: "100%", height: "100%" };
      const made = svg("svg", { class: `${css} ${found.has(frame) ? "match" : ""}`, x, width,
        y: frame.depth * ROW, height: ROW, role: "treeitem", "aria-level": frame.depth + 1,
        "aria-label": describe(frame), tabindex: -1 }, svg("rect", full));
      const fill = css.startsWith("m") ? "url(#rising)" : "url(#falling)";
      if (css) made.append(svg("rect", { fill, ...full }));
      const short = frame.name.split(/:(?! )/).at(-1) || frame.name;
      const mark = { m: "▲ ", l: "▼ " }[css[0]] ?? "";
      if (width >= LABELLED) made.append(svg("text", { x: 4, y: 13 }, mark + short));
      made.addEventListener("click", () => zoom(frame));
      made.addEventListener("focus", () => enter(frame));
      made.addEventListener("mouseover", () => { about.textContent = describe(frame); });
      return made;
    }

    function draw() {
      if (!width) return; // not shown yet
      const focused = plot.contains(document.activeElement);
      while (!top.total[side] && top.caller) top = top.caller;
      drawn.clear();
      for (const [frame, x, wide] of places()) drawn.set(frame, { x, made: box(frame, x, wide) });
      plot.replaceChildren(...[...drawn.values()].map(({ made }) => made));
      plot.classList.toggle("searching", found.size > 0);
      plot.setAttribute("height", ROW * (1 + Math.max(...[...drawn.keys()].map((one) => one.depth))));
      enter(drawn.has(current) ? current : top);
      if (focused) drawn.get(current).made.focus();
    }

    /** Make a frame the one that Tab leads to. */
    function enter(frame) {
      drawn.get(current)?.made.setAttribute("tabindex", -1);
      current = frame;
      drawn.get(current).made.setAttribute("tabindex", 0);
      about.textContent = describe(frame);
    }

    function zoom(frame) {
      top = current = frame;
      draw();
      say(`Zoomed to ${frame.name}`);
    }

    function search() {
      const words = input.value.trim().toLowerCase();
      found = new Set(words ? frames.filter((one) => one.name.toLowerCase().includes(words)) : []);
      draw();
      if (!words) return;
      const inside = (frame) => frame && (found.has(frame) || inside(frame.caller));
      const sum = [...found].filter((one) => !inside(one.caller))
        .reduce((all, one) => all + one.total[side], 0);
      about.textContent = `${units.count(found.size)} of ${units.count(frames.length)} frames match, ` +
        `with callees ${units.percent(sum / (root.total[side] || 1))} of all ${unit}`;
      say(about.textContent);
    }

    /** The frame beside the current one in its row, or among its callees the widest. */
    function beside(step) {
      const row = [...drawn.keys()].filter((one) => one.depth === current.depth)
        .sort((one, other) => drawn.get(one).x - drawn.get(other).x);
      return row[row.indexOf(current) + step];
    }
    const below = () => current.callees.filter((one) => drawn.has(one))
      .sort((one, other) => other.total[side] - one.total[side])[0];

    plot.addEventListener("keydown", (event) => {
      const steps = { ArrowDown: below, ArrowUp: () => current.caller, Home: () => root,
        ArrowLeft: () => beside(-1), ArrowRight: () => beside(1) };
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key in steps) {
        const frame = steps[event.key]();
        if (frame) drawn.get(frame).made.focus();
      } else if (event.key === "Enter") zoom(current);
      else if (event.key === "Escape") zoom(root);
      else return;
      event.preventDefault();
    });
    input.addEventListener("input", search);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { input.value = ""; search(); }
      if (event.key !== "Enter" || !found.size) return;
      zoom([...found].sort((one, other) => other.total[side] - one.total[side])[0]);
      drawn.get(current).made.focus();
    });
    for (const choice of figure.querySelectorAll("input[type=radio]")) {
      choice.addEventListener("change", () => { side = Number(choice.value); draw(); });
    }
    figure.querySelector("button").addEventListener("click", () => zoom(root));
    for (const hidden of figure.querySelectorAll("[hidden]")) hidden.hidden = false;
    plot.parentNode.removeAttribute("tabindex");
    plot.setAttribute("role", "tree");
    new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width === width) return;
      width = contentRect.width;
      draw();
    }).observe(plot.parentNode);
  }

  for (const figure of document.querySelectorAll("figure.flame")) start(figure);
})();
