/* What charts show besides lines: levels, intervals, values, gaps, steps, alerts, events, releases,
   the cursor and pins. Everything is drawn on the canvas of a uPlot `u`, in its coordinates. */
"use strict";

observatory.seriesMarks = (() => {
  const { brief, colourOf, font, levelAt, scaling, token, widthOfText } = observatory.seriesAxes;
  const STATES = {
    new: "bad", open: "bad", expired: "bad", acknowledged: "unknown", event: "unknown",
    resolved: "good",
  };
  const ROWS = 3, ROW = 21; // of labels above the values; pixels

  /** Draw with coordinates in CSS pixels, within the frame. */
  function within(u, draw) {
    const { ctx, bbox } = u, ratio = devicePixelRatio || 1;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.translate(bbox.left, bbox.top);
    ctx.scale(ratio, ratio);
    draw(ctx, bbox.width / ratio, bbox.height / ratio);
    ctx.restore();
  }

  function stroke(ctx, x0, y0, x1, y1) {
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
  }

  const SHAPES = {
    circle: (ctx, x, y, r) => ctx.arc(x, y, r, 0, 7),
    square: (ctx, x, y, r) => ctx.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r),
    triangle: (ctx, x, y, r) => polygon(ctx, x, y, 1.25 * r, 3, -90),
    diamond: (ctx, x, y, r) => polygon(ctx, x, y, 1.25 * r, 4, -90),
    inverted_triangle: (ctx, x, y, r) => polygon(ctx, x, y, 1.25 * r, 3, 90),
    hex: (ctx, x, y, r) => polygon(ctx, x, y, 1.1 * r, 6, 0),
  };

  function polygon(ctx, x, y, r, corners, turn) {
    for (let i = 0; i < corners; i++) {
      const angle = ((turn + (360 * i) / corners) * Math.PI) / 180;
      ctx[i ? "lineTo" : "moveTo"](x + r * Math.cos(angle), y + r * Math.sin(angle));
    }
    ctx.closePath();
  }

  /** The places of the values of a series that are in sight, as indexes of its values. */
  function inSight(one, [from, to]) {
    const start = one.places.findIndex((place) => place >= from - 1);
    const end = one.places.findLastIndex((place) => place <= to + 1);
    return start < 0 ? [0, -1] : [start, end];
  }

  function addLevels(u, ctx, one, view, y) {
    ctx.strokeStyle = colourOf(one);
    ctx.globalAlpha = one.drift ? 1 : 0.25;
    ctx.lineWidth = one.drift ? 2 : 7;
    ctx.setLineDash(one.drift ? [8, 5] : []);
    one.levels.forEach((_, i) => {
      const a = one.bounds[i], b = one.bounds[i + 1] - 1;
      const [low, high] = [y(levelAt(one, a)), y(levelAt(one, b))];
      if (low == null || high == null) return;
      const left = u.valToPos(view.xs[one.places[a]], "x");
      const right = u.valToPos(view.xs[one.places[b]], "x");
      stroke(ctx, left - 3, u.valToPos(low, "y"), right + 3, u.valToPos(high, "y"));
    });
  }

  function addIntervals(u, ctx, one, view, y, size) {
    ctx.strokeStyle = colourOf(one);
    ctx.globalAlpha = 0.32;
    ctx.lineWidth = Math.max(1.5, 0.5 * size);
    ctx.beginPath();
    const [start, end] = inSight(one, view.span);
    for (let i = start; i <= end; i++) {
      const [low, high] = [y(one.lo[i]), y(one.hi[i])];
      if (low == null || high == null) continue;
      const x = u.valToPos(view.xs[one.places[i]], "x");
      ctx.moveTo(x, u.valToPos(low, "y"));
      ctx.lineTo(x, u.valToPos(high, "y"));
    }
    ctx.stroke();
  }

  /** How large marks may be where so many subjects are shown. */
  function sizeIn(width, [from, to]) {
    return Math.min(Math.max((0.8 * width) / (to - from + 1), 2), 8);
  }

  /** Whether there is no value beside one, so that no line leads to it. */
  function alone({ gaps, places }, i) {
    const apart = (from, to) => gaps.some((gap) => gap > from && gap < to);
    return (!i || apart(places[i - 1], places[i])) && !(places[i + 1] && !apart(places[i], places[i + 1]));
  }

  function addValues(u, ctx, one, view, y, size) {
    const shape = SHAPES[one.shape], [start, end] = inSight(one, view.span);
    const all = size > 3.2 || one.v.length < 3;
    ctx.fillStyle = colourOf(one);
    ctx.strokeStyle = token("card");
    ctx.lineWidth = 1;
    for (let i = start; i <= end; i++) {
      const value = y(one.v[i]);
      if (value == null || !(all || alone(one, i))) continue;
      ctx.beginPath();
      shape(ctx, u.valToPos(view.xs[one.places[i]], "x"), u.valToPos(value, "y"), (all ? size : 4) / 2 + 0.4);
      ctx.fill();
      if (size > 6) ctx.stroke();
    }
  }

  /** Subjects without a value have a mark at the ground. */
  function addGaps(u, ctx, one, view, row, height) {
    ctx.strokeStyle = colourOf(one);
    ctx.globalAlpha = 0.75;
    ctx.lineWidth = 2.5;
    for (const place of one.gaps) {
      const x = u.valToPos(view.xs[place], "x");
      stroke(ctx, x, height - 4 - 9 * row, x, height - 10 - 9 * row);
    }
  }

  function addAlerts(u, ctx, one, view, y) {
    for (const alert of one.alerts) {
      const value = alert.at == null ? null : y(one.v[alert.at]);
      if (value == null) continue;
      ctx.strokeStyle = token(STATES[alert.state] ?? "unknown");
      ctx.lineWidth = 2.5;
      ctx.setLineDash(["acknowledged", "event"].includes(alert.state) ? [3, 3] : []);
      ctx.beginPath();
      ctx.arc(u.valToPos(view.xs[one.places[alert.at]], "x"), u.valToPos(value, "y"), 8.5, 0, 7);
      ctx.stroke();
    }
  }

  const between = (one, i, view) =>
    (view.xs[one.places[Math.max(0, i - 1)]] + view.xs[one.places[i]]) / 2;

  /** What is written above the values: exact events, drifts, then steps, the largest first. */
  function notesOf(members, view) {
    if (view.off.has("levels")) return [];
    const spread = (one, i) => between(one, i, view);
    const events = members.flatMap((one) => (one.events ?? []).map((event) => ({
      x: spread(one, event.at), text: event.words, colour: colourOf(one), event: true,
      state: event.worse ? "bad" : "good",
    })));
    const seen = new Set();
    const drifts = members.filter((one) => one.drift).map((one) => ({
      x: (view.xs[one.places[0]] + view.xs[one.places.at(-1)]) / 2,
      text: `drifts: ${one.drift.words}`, colour: colourOf(one), state: "unknown", drifting: true,
    }));
    const steps = members.flatMap((one) => one.steps.map((step) => ({
      x: spread(one, step.at), text: step.words, colour: colourOf(one),
      state: step.worse ? "bad" : "good", size: step.size,
    })));
    return [...drifts, ...steps.sort((a, b) => b.size - a.size), ...events].filter((note) => {
      const key = `${note.x} ${note.text}`; // cells that share a line say the same
      return !seen.has(key) && seen.add(key);
    });
  }

  /** Labels beside their marks, in a few rows; those without room are not written. */
  function addNotes(u, ctx, notes, width, height) {
    const rows = Array.from({ length: ROWS }, () => []);
    for (const note of notes) {
      const at = u.valToPos(note.x, "x"), wide = widthOfText(note.text) + 13;
      if (at < 0 || at > width) continue;
      if (!note.drifting) {
        ctx.strokeStyle = token(note.state);
        ctx.lineWidth = 1.2;
        ctx.globalAlpha = 0.75;
        ctx.setLineDash(note.event ? [1, 3] : [4, 3]);
        stroke(ctx, at, 0, at, height);
        ctx.globalAlpha = 1;
      }
      const left = note.drifting ? at - wide / 2 : at + wide > width ? at - wide : at;
      const row = rows.findIndex((taken) => taken.every(([a, b]) => left > b + 4 || left + wide < a - 4));
      if (row < 0) continue;
      rows[row].push([left, left + wide]);
      addLabel(ctx, note, left, 3 + row * ROW, wide);
    }
  }

  function addLabel(ctx, note, left, top, wide) {
    ctx.setLineDash([]);
    ctx.fillStyle = token(`${note.state}-ground`);
    ctx.strokeStyle = note.colour;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.roundRect(left + 0.5, top + 0.5, wide - 1, ROW - 4, 8);
    ctx.fill();
    ctx.stroke();
    ctx.fillStyle = token(note.state);
    ctx.font = font(600);
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    ctx.fillText(note.text, left + 6.5, top + ROW / 2 - 1);
  }

  /** Releases as faint upright lines, named at the ground where there is room. */
  function addReleases(u, ctx, view, width, height) {
    let taken = Infinity;
    ctx.font = font(400);
    ctx.textBaseline = "bottom";
    ctx.textAlign = "left";
    ctx.lineWidth = 1;
    for (const slot of view.releases.toReversed()) {
      const x = u.valToPos(view.xs[slot.x], "x");
      if (x < 0 || x > width) continue;
      ctx.strokeStyle = token("rule");
      stroke(ctx, x, 0, x, height);
      const text = brief(slot.label, 12), wide = widthOfText(text, 400) + 8;
      if (x + wide > taken || x + wide > width) continue;
      ctx.fillStyle = token("ink-2");
      ctx.fillText(text, x + 3, height - 2);
      taken = x;
    }
  }

  /** The cursor, the pinned points A and B, and rings around the values at them. */
  function addMarks(u, ctx, members, view, at, height) {
    for (const [name, ink, dash] of [["cursor", "ink-2", [3, 3]], ["a", "ink", []], ["b", "ink", []]]) {
      if (at[name] == null) continue;
      const x = u.valToPos(view.xs[at[name]], "x");
      ctx.strokeStyle = token(ink);
      ctx.lineWidth = 1.4;
      ctx.setLineDash(dash);
      stroke(ctx, x, 0, x, height);
      ctx.setLineDash([]);
      for (const one of members) {
        const value = scaling(one, view)(one.v[one.value.get(at[name])]);
        if (value == null) continue;
        ctx.beginPath();
        ctx.lineWidth = 2;
        ctx.arc(x, u.valToPos(value, "y"), 6, 0, 7);
        ctx.stroke();
      }
      if (name !== "cursor") addPin(ctx, name.toUpperCase(), x, height);
    }
  }

  function addPin(ctx, letter, x, height) {
    ctx.fillStyle = token("ink");
    ctx.beginPath();
    ctx.roundRect(x - 9, height - 20, 18, 18, 4);
    ctx.fill();
    ctx.fillStyle = token("card");
    ctx.font = font(650);
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.fillText(letter, x, height - 10.5);
  }

  function below(u, members, view) {
    within(u, (ctx, width, height) => {
      addReleases(u, ctx, view, width, height);
      for (const one of members) {
        if (!view.off.has("levels")) addLevels(u, ctx, one, view, scaling(one, view));
      }
    });
  }

  /** Draw what follows the pointer on a canvas of its own above the chart. */
  function marks(u, glass, members, view, at) {
    const ratio = devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = u.over;
    if (glass.width !== Math.round(width * ratio)) glass.width = Math.round(width * ratio);
    if (glass.height !== Math.round(height * ratio)) glass.height = Math.round(height * ratio);
    const ctx = glass.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, height);
    addMarks(u, ctx, members, view, at, height);
  }

  function above(u, members, view, notes) {
    within(u, (ctx, width, height) => {
      const size = sizeIn(width, view.span);
      const each = (draw) => members.forEach((one, row) => {
        ctx.save();
        draw(one, scaling(one, view), row);
        ctx.restore();
      });
      each((one, y) => {
        if (one.lo && one.hi && !view.off.has("intervals")) {
          addIntervals(u, ctx, one, view, y, size);
        }
      });
      each((one, y, row) => addGaps(u, ctx, one, view, row, height));
      each((one, y) => addValues(u, ctx, one, view, y, size));
      each((one, y) => !view.off.has("alerts") && addAlerts(u, ctx, one, view, y));
      addNotes(u, ctx, notes, width, height);
    });
  }

  return { above, below, marks, notesOf, shape: (name) => SHAPES[name], SHAPES: Object.keys(SHAPES) };
})();
