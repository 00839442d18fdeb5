/* Charts of series along the subjects of their lines, drawn by BokehJS. Knows nothing of the page:
   it gets what to draw, and reports where the pointer is and what span is shown. */
"use strict";

observatory.seriesChart = (() => {
  const { token, colourOf, levelAt, scaling, widthOf, ...axes } = observatory.seriesAxes;
  const SHAPES = ["circle", "square", "triangle", "diamond", "inverted_triangle", "hex"];
  const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
  const STATES = {
    new: "bad", open: "bad", acknowledged: "unknown", expired: "ink-2", resolved: "good",
  };
  const ROWS = 3, ROW = 22; // of labels above the values; pixels

  const label = () => ({
    text_font: token("sans"), text_font_size: "11px", text_font_style: "bold",
    text_baseline: "middle", padding: [6, 2], level: "overlay", y_range_name: "ground",
  });

  const sourceOf = (data) => new Bokeh.ColumnDataSource({ data });

  /** How large marks may be where a span of subjects is shown. */
  function sizeIn(view, [from, to]) {
    return Math.min(Math.max((0.8 * view.width) / (to - from + 1), 3), 8);
  }

  /** Every other line is on another ground: their values are not compared. */
  function addLines(figure, view) {
    for (const { start, count } of view.starts.filter((_, i) => i % 2)) {
      figure.add_layout(new Bokeh.BoxAnnotation({
        left: start - 0.5, right: start + count - 0.5, line_color: null, level: "image",
        fill_color: token("ink-2"), fill_alpha: 0.09,
      }));
    }
  }

  function addLevels(figure, one, colour, y) {
    const pieces = one.levels.map((_, i) => [one.bounds[i], one.bounds[i + 1] - 1]);
    const x = (i, beyond) => one.start + one.at[i] + beyond;
    figure.segment(
      pieces.map(([a]) => x(a, -0.4)), pieces.map(([a]) => y(levelAt(one, a))),
      pieces.map(([, b]) => x(b, 0.4)), pieces.map(([, b]) => y(levelAt(one, b))),
      one.drift ? { line_color: colour, line_width: 2, line_dash: { value: [8, 5] } }
        : { line_color: colour, line_width: 7, line_alpha: 0.25 });
  }

  /** Upright strokes, as one broken line: thousands of single ones would take seconds. */
  function addStrokes(figure, xs, low, high, style) {
    figure.line(xs.flatMap((x) => [x, x, NaN]), low.flatMap((y, i) => [y, high[i], NaN]), style);
  }

  /** Subjects without a value break the line, and have a mark at the ground. */
  function addLine(figure, one, colour, y, width) {
    const all = Array.from({ length: one.count }, (_, k) => [one.start + k, one.value.get(k)]);
    figure.line(all.map(([x]) => x), all.map(([, i]) => y(one.v[i])),
      { line_color: colour, line_width: width, line_dash: one.dash, line_join: "round" });
    return all.filter(([, i]) => i === undefined).map(([x]) => x);
  }

  function addSeries(figure, one, view, row) {
    const colour = colourOf(one), y = scaling(one, view);
    const xs = one.at.map((k) => one.start + k);
    const size = sizeIn(view, view.span);
    if (!view.off.has("levels")) addLevels(figure, one, colour, y);
    if (one.lo && one.hi && !view.off.has("intervals")) {
      addStrokes(figure, xs, one.lo.map(y), one.hi.map(y),
        { line_color: colour, line_width: Math.max(1.5, 0.55 * size), line_alpha: 0.32 });
    }
    const gaps = addLine(figure, one, colour, y, size > 4 ? 1.8 : 1.2);
    addStrokes(figure, gaps, gaps.map(() => 0.03 * row + 0.005), gaps.map(() => 0.03 * row + 0.025),
      { line_color: colour, line_width: 2.5, line_alpha: 0.75, y_range_name: "ground" });
    addValues(figure, one, colour, xs, one.v.map(y), size);
    if (!view.off.has("alerts")) addAlerts(figure, one, xs, y);
  }

  function addValues(figure, one, colour, xs, ys, size) {
    if (size > 3) {
      figure.scatter(xs, ys, {
        marker: one.shape, fill_color: colour, line_color: size > 6 ? token("card") : null,
        size: ["circle", "square"].includes(one.shape) ? size : 1.25 * size, // they look smaller
      });
    } else addStrokes(figure, xs, ys, ys, { line_color: colour, line_width: 3, line_cap: "round" });
  }

  function addAlerts(figure, one, xs, y) {
    const told = one.alerts.filter((alert) => alert.at != null);
    figure.scatter(told.map((alert) => xs[alert.at]), told.map((alert) => y(one.v[alert.at])), {
      marker: "circle", size: 17, fill_color: null, line_width: 2.5,
      line_color: told.map((alert) => token(STATES[alert.state] ?? "unknown")),
    });
  }

  /** What is written above the values: drifts, then steps, the largest first. */
  function notesOf(members, view) {
    if (view.off.has("levels")) return [];
    const between = (one, i, j) => one.start + (one.at[Math.max(0, i)] + one.at[j]) / 2;
    const drifts = members.filter((one) => one.drift).map((one) => ({
      x: between(one, 0, one.at.length - 1), text: `drifts: ${one.drift.words}`,
      colour: colourOf(one), state: "unknown", drifting: true,
    }));
    const steps = members.flatMap((one) => one.steps.map((step) => ({
      x: between(one, step.at - 1, step.at), text: step.words, colour: colourOf(one),
      state: step.worse ? "bad" : "good", size: step.size,
    })));
    return [...drifts, ...steps.sort((a, b) => b.size - a.size)];
  }

  function addNotes(figure, notes) {
    const steps = notes.filter((note) => !note.drifting), xs = steps.map((note) => note.x);
    figure.segment(xs, xs.map(() => 0), xs, xs.map(() => 1), {
      y_range_name: "ground", line_width: 1.2, line_dash: { value: [4, 3] }, line_alpha: 0.75,
      line_color: steps.map((note) => token(note.state)),
    });
    const column = (of) => notes.map(of);
    const source = sourceOf({
      x: column((note) => note.x), y: column(() => NaN), text: column((note) => note.text),
      align: column(() => "left"), ink: column((note) => token(note.state)),
      ground: column((note) => token(`${note.state}-ground`)),
      colour: column((note) => note.colour),
    });
    figure.text({
      ...label(), source, x: { field: "x" }, y: { field: "y" }, text: { field: "text" },
      text_align: { field: "align" }, text_color: { field: "ink" }, border_radius: 8,
      background_fill_color: { field: "ground" }, border_line_color: { field: "colour" },
    });
    return source;
  }

  /** Labels beside their marks, in a few rows; those without room are nowhere. */
  function placeNotes(figure, notes, view, [low, high], source) {
    const whole = widthOf(figure), pixels = whole / (high - low);
    const rows = Array.from({ length: ROWS }, () => []);
    const placed = notes.map((note) => {
      const at = (note.x - low) * pixels, width = axes.widthOfText(note.text) + 14;
      const align = note.drifting ? "center" : at + width > whole ? "right" : "left";
      const left = at - { left: 0, center: width / 2, right: width }[align];
      const free = (taken) => taken.every(([a, b]) => left > b + 4 || left + width < a - 4);
      const row = at < 0 || at > whole ? -1 : rows.findIndex(free);
      rows[row]?.push([left, left + width]);
      return { align, y: row < 0 ? NaN : 1 - ((row + 0.6) * ROW) / (view.height - 30) };
    });
    // As many as ever: Bokeh reads texts later than their colours, and must not find more of them.
    source.data = {
      ...source.data, y: placed.map(({ y }) => y), align: placed.map(({ align }) => align),
    };
  }

  /** The cursor, the pinned points A and B, and rings around the values at them. */
  function addMarks(figure, members, view) {
    const span = (ink, dash) => new Bokeh.Span({
      dimension: "height", visible: false, level: "annotation", line_width: 1.4,
      line_color: token(ink), line_dash: dash,
    });
    const spans = { cursor: span("ink-2", []), a: span("ink", [2, 2]), b: span("ink", [2, 2]) };
    Object.values(spans).forEach((each) => figure.add_layout(each));
    const rings = sourceOf({ x: [], y: [] });
    const letters = sourceOf({ x: [NaN, NaN], text: ["A", "B"] });
    figure.scatter({
      x: { field: "x" }, y: { field: "y" }, source: rings, marker: "circle", size: 13,
      fill_color: null, line_color: token("ink"), line_width: 1.6, level: "overlay",
    });
    figure.text({
      ...label(), source: letters, x: { field: "x" }, y: 0.045, text: { field: "text" },
      text_color: token("card"), text_align: "center", background_fill_color: token("ink"),
      border_radius: 4,
    });
    const valueAt = (one, x) => scaling(one, view)(one.v[one.value.get(x - one.start)]);
    return (at) => {
      for (const [name, each] of Object.entries(spans)) {
        each.setv({ location: at[name] ?? 0, visible: at[name] != null });
      }
      const points = [...new Set(Object.values(at))].filter((x) => x != null)
        .flatMap((x) => members.map((one) => [x, valueAt(one, x)]));
      rings.data = { x: points.map(([x]) => x), y: points.map(([, y]) => y) };
      letters.data = { ...letters.data, x: [at.a ?? NaN, at.b ?? NaN] };
    };
  }

  function addTools(figure, tell) {
    const tools = {
      wheel: new Bokeh.WheelZoomTool({ dimensions: "width", zoom_on_axis: false }),
      move: new Bokeh.PanTool({ dimensions: "width" }),
      select: new Bokeh.BoxZoomTool({ dimensions: "width" }),
    };
    figure.add_tools(...Object.values(tools));
    Object.assign(figure.toolbar, { active_drag: null, active_scroll: null });
    figure.on_event("mousemove", (event) => tell.point(event.x));
    figure.on_event("mouseleave", () => tell.point(null));
    figure.on_event("tap", (event) => tell.pin(event.x));
    return tools;
  }

  /** The chart of the series of one unit. */
  function partOf(members, view, range) {
    const figure = axes.figureOf(members, view, range);
    const notes = notesOf(members, view);
    addLines(figure, view);
    members.forEach((one, row) => addSeries(figure, one, view, row));
    const labels = addNotes(figure, notes);
    const arrange = () => {
      const shown = [range.start, range.end];
      placeNotes(figure, notes, view, shown, labels);
      axes.fit(figure, members, view, shown, notes.length ? 0.22 : 0);
    };
    figure.properties.inner_width.change.connect(arrange);
    arrange();
    const mark = addMarks(figure, members, view);
    return { figure, arrange, mark, tools: addTools(figure, view.tell) };
  }

  /** Draw into an element what `view` says, and return the means to change it. `view`: {series,
      slots, starts, span, scale, of, off, width, height, tell: {point, pin, span}}. */
  async function draw(place, view) {
    const [from, to] = view.span;
    const range = new Bokeh.Range1d({
      start: from - 0.5, end: to + 0.5, bounds: [-0.7, view.slots.length - 0.3], min_interval: 1,
    });
    const groups = Map.groupBy(view.series, (one) => one.unit);
    const parts = [...groups.values()].map((members) => partOf(members, view, range));
    range.change.connect(() => {
      parts.forEach((part) => part.arrange());
      view.tell.span(Math.ceil(range.start), Math.floor(range.end));
    });
    const layout = new Bokeh.Column({
      children: parts.map((part) => part.figure), sizing_mode: "stretch_width",
    });
    const shown = await Bokeh.Plotting.show(layout, place);
    // The group around it has the focus and the keys; a canvas would be a stop without a name.
    for (const each of shown.child_views) each.canvas_view.events_el.tabIndex = -1;
    return handle(parts, layout, view);
  }

  function handle(parts, layout, view) {
    return {
      // Whether marks should be larger or smaller by now.
      stale: (span) => Math.abs(Math.log(sizeIn(view, span) / sizeIn(view, view.span))) > 0.4,
      mark: (at) => parts.forEach((part) => part.mark(at)),
      wheel: (on) => parts.forEach((part) => { part.tools.wheel.active = on; }),
      drag: (name) => parts.forEach(({ tools }) => {
        for (const each of ["move", "select"]) if (each !== name) tools[each].active = false;
        if (tools[name]) tools[name].active = true;
      }),
      remove: () => {
        const { document: drawn } = layout;
        drawn.clear();
        Bokeh.documents.splice(Bokeh.documents.indexOf(drawn), 1); // else each stays in memory
      },
    };
  }

  return { draw, SHAPES, DASHES };
})();
