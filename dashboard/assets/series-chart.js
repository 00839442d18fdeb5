/* Charts of series along subjects or dates, drawn by uPlot: one for each unit, all over one span. It
   knows nothing of the page: it gets what to draw, and reports what the pointer does. */
"use strict";

observatory.seriesChart = (() => {
  const { colourOf, font, scaling, token, widthOfText, ...axes } = observatory.seriesAxes;
  const { above, below, marks, notesOf, SHAPES } = observatory.seriesMarks;
  const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
  const HEADROOM = 0.24;

  /** The ends of x that show a span of slots. */
  function endsOf(view) {
    const [from, to] = view.span, { xs } = view;
    if (!view.byDate) return [from - 0.5, to + 0.5];
    const air = 0.015 * (xs[to] - xs[from]) || 43200;
    return [xs[from] - air, xs[to] + air];
  }

  /** For each slot a value, null where its line has a subject without one, and else nothing. */
  function columnOf(one, view) {
    const y = scaling(one, view), column = new Array(view.slots.length);
    for (const place of one.gaps) column[place] = null;
    one.places.forEach((place, i) => { column[place] = y(one.v[i]); });
    return column;
  }

  function axesOf(members, view) {
    const texts = axes.valueTexts(members[0].unit, view);
    const metrics = [...new Set(members.map((one) => one.metric))].join(", ");
    const common = {
      font: font(), labelFont: font(), stroke: () => token("ink-2"), labelSize: 18,
      ticks: { stroke: () => token("rule"), size: 5, width: 1 },
    };
    const x = {
      ...common, size: 26, gap: 3, grid: { show: false },
      splits: (u, _, low, high) => (view.byDate ? axes.dateTicks(low, high, u.bbox.width / devicePixelRatio)
        : axes.slotTicks(view, low, high, u.bbox.width / devicePixelRatio)),
      values: (_, ticks) => (view.byDate ? axes.dateTexts(ticks)
        : ticks.map((tick) => axes.brief(view.slots[tick]?.label ?? ""))),
    };
    const y = {
      ...common, label: axes.brief(view.of ? `${metrics}, % of the ${view.of} level` : metrics, 48),
      grid: { stroke: () => token("rule-2"), width: 1 }, gap: 3,
      size: (_, shown) => 12 + Math.max(20, ...(shown ?? []).map((text) => widthOfText(text ?? "", 400))),
      splits: (u, _, low, high) =>
        axes.valueTicks(low, high, u.bbox.height / devicePixelRatio / 52, view.scale === "log"),
      values: (_, ticks) => texts(ticks), filter: (_, ticks) => ticks,
    };
    return [x, y];
  }

  function lineOf(one) {
    const stairs = one.kind === "exact";
    return {
      stroke: () => colourOf(one), width: one.kin ? 1.2 : 1.8, dash: one.dash, alpha: one.kin ? 0.75 : 1,
      points: { show: false }, label: one.name,
      paths: stairs ? uPlot.paths.stepped({ align: 1 }) : uPlot.paths.linear(),
    };
  }

  /** The chart of the series of one unit. */
  function partOf(place, members, view) {
    const notes = notesOf(members, view), room = notes.length ? HEADROOM : 0;
    const plot = new uPlot({
      width: view.width, height: view.height, padding: [8, 12, 0, 0], legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, range: () => endsOf(view) },
        y: { distr: view.scale === "log" ? 3 : 1, range: () => axes.fit(members, view, view.span, room) },
      },
      axes: axesOf(members, view),
      series: [{}, ...members.map(lineOf)],
      hooks: {
        drawAxes: [(u) => below(u, members, view)],
        draw: [(u) => above(u, members, view, notes)],
      },
    }, [view.xs, ...members.map((one) => columnOf(one, view))], place);
    const glass = document.createElement("canvas"); // what follows the pointer is drawn alone
    glass.className = "glass";
    plot.over.append(glass);
    return { plot, mark: (at) => marks(plot, glass, members, view, at) };
  }

  /** Draw into an element what `view` says, and return the means to change it. `view`: {series,
      slots, xs, byDate, releases, span, scale, of, off, width, height, tell}. */
  function draw(place, view) {
    const groups = Map.groupBy(view.series, (one) => one.unit);
    const parts = [...groups.values()].map((members) => partOf(place, members, view));
    let at = {};
    const mark = (now) => {
      at = now;
      for (const part of parts) part.mark(now);
    };
    for (const { plot } of parts) observatory.seriesHand.take(plot, view);
    return {
      mark,
      show(span) {
        view.span = span;
        const [min, max] = endsOf(view);
        for (const { plot } of parts) plot.batch(() => plot.setScale("x", { min, max }));
        queueMicrotask(() => mark(at));
      },
      resize(width) {
        view.width = width;
        for (const { plot } of parts) plot.setSize({ width, height: view.height });
        queueMicrotask(() => mark(at));
      },
      remove: () => parts.forEach(({ plot }) => plot.destroy()),
      get view() { return view; },
      get plots() { return parts.map(({ plot }) => plot); },
    };
  }

  return { draw, SHAPES, DASHES };
})();
