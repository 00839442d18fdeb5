/* Figures without marks: subjects along x, values along y, in the page's colours and words. Bokeh's
   titles and labels read $$...$$ as TeX and fetch MathJax for it, so strangers' texts go only into
   ticks, text glyphs and PlainText, which are drawn as they are. */
"use strict";

observatory.seriesAxes = (() => {
  const SCALES = {
    seconds: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]],
    bytes: [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]],
  };
  const GUESS = 600; // pixels

  const ruler = document.createElement("canvas").getContext("2d");
  const token = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const colourOf = (one) => token(one.colour) || token("other");
  const brief = (text, most = 18) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

  /** How wide the frame is in pixels; a guess until it is laid out. */
  function widthOf(figure) {
    return figure.properties.inner_width.is_unset ? GUESS : figure.inner_width || GUESS;
  }

  /** How wide a label is in pixels. */
  function widthOfText(text) {
    ruler.font = `bold 11px ${token("sans")}`;
    return ruler.measureText(text).width;
  }

  /** The level that a value is in; of a drifting series it moves along. */
  function levelAt(one, i) {
    const level = one.levels[one.bounds.findLastIndex((bound) => bound <= i)];
    const share = i / Math.max(1, one.v.length - 1);
    return level == null ? null : level * (one.drift ? one.drift.ratio ** share : 1);
  }

  /** The first or the newest level; the value where there are no levels. */
  function reference(one, which) {
    const i = which === "newest" ? one.v.length - 1 : 0;
    return levelAt(one, i) ?? one.v[i];
  }

  /** How values are drawn: as they are, or as per cent of a level; NaN where that cannot be. */
  function scaling(one, view) {
    const share = view.of ? 100 / reference(one, view.of) : 1;
    return (value) => {
      const y = value == null ? NaN : value * share;
      return Number.isFinite(y) && (view.scale !== "log" || y > 0) ? y : NaN;
    };
  }

  /** Texts of ticks in one unit, with as many digits as their distance needs. */
  function valueTexts(unit, view) {
    const scales = view.of ? [[1, "%"]] : SCALES[unit] ?? [[1, ""]];
    const scaleOf = (size) => scales.find(([scale]) => size >= scale * 0.9999) ?? scales.at(-1);
    return (ticks) => {
      const common = scaleOf(Math.max(...ticks.map(Math.abs)));
      const distance = Math.min(...ticks.slice(1).map((tick, i) => tick - ticks[i]));
      const decades = view.scale === "log" && ticks.at(-1) > 20 * ticks[0];
      return ticks.map((tick) => {
        const [scale, name] = decades ? scaleOf(tick) : common;
        const places = Math.ceil(-Math.log10((decades ? tick : distance) / scale) - 1e-6);
        const digits = Number.isFinite(places) ? Math.min(Math.max(places, 0), 12) : 0;
        const form = { minimumFractionDigits: digits, maximumFractionDigits: digits };
        return `${(tick / scale).toLocaleString("en-US", form)} ${name}`.trim();
      });
    };
  }

  /** Where subjects are named: the newest of each line, and before it as many as have room. */
  function subjectTicks(figure, view) {
    return (low, high) => {
      const first = Math.max(0, Math.ceil(low));
      const last = Math.min(view.slots.length - 1, Math.floor(high));
      const widest = view.slots.slice(first, last + 1)
        .reduce((most, slot) => Math.max(most, widthOfText(brief(slot.label))), 0);
      const stride = Math.ceil(((widest + 18) * (high - low)) / widthOf(figure)) || 1;
      const newest = (x) => view.slots[x + 1]?.line !== view.slots[x].line;
      const major = [];
      for (let x = last; x >= first; x--) {
        if (!major.length || major[0] - x >= stride) major.unshift(x);
        else if (newest(x) && !newest(major[0])) major[0] = x;
      }
      return { major, minor: [] };
    };
  }

  function styleAxis(axis, line) {
    const font = token("sans"), ink = token("ink-2");
    axis.setv({
      major_label_text_font: font, major_label_text_font_size: "11px", major_label_text_color: ink,
      axis_label_text_font: font, axis_label_text_font_size: "11.5px", axis_label_text_color: ink,
      axis_label_text_font_style: "normal", axis_line_color: line, major_tick_in: 0,
      major_tick_line_color: token("rule"), minor_tick_line_color: null,
    });
  }

  /** A figure for series of one unit. Its range "ground" goes from 0 at the ground to 1. */
  function figureOf(members, view, xRange) {
    const figure = Bokeh.Plotting.figure({
      x_range: xRange, y_range: new Bokeh.Range1d({ start: 1, end: 2 }),
      x_axis_type: "linear", y_axis_type: view.scale || "linear",
      height: view.height, sizing_mode: "stretch_width", min_border_left: 66, min_border_right: 14,
      tools: [], toolbar_location: null, lod_threshold: null, outline_line_color: null,
      background_fill_color: token("card"), border_fill_color: token("card"),
    });
    figure.extra_y_ranges = { ground: new Bokeh.Range1d({ start: 0, end: 1 }) };
    figure.extra_y_scales = { ground: new Bokeh.LinearScale() };
    const [x] = figure.xaxes, [y] = figure.yaxes;
    styleAxis(x, token("ink-2"));
    styleAxis(y, null);
    x.ticker.get_ticks = subjectTicks(figure, view);
    x.formatter.doFormat = (ticks) => ticks.map((tick) => brief(view.slots[tick]?.label ?? ""));
    y.formatter = new Bokeh.BasicTickFormatter(); // that of a logarithmic axis writes powers
    y.formatter.doFormat = valueTexts(members[0].unit, view);
    const metrics = [...new Set(members.map((one) => one.metric))].join(", ");
    const label = view.of ? `${metrics}, % of the ${view.of} level` : metrics;
    y.axis_label = new Bokeh.PlainText({ text: brief(label, 48) });
    figure.xgrid.grid_line_color = null;
    figure.ygrid.grid_line_color = token("rule-2");
    return figure;
  }

  /** Show of y what lies within a span of x, with room around it, `headroom` of it above. */
  function fit(figure, members, view, [from, to], headroom) {
    let low = Infinity, high = -Infinity;
    for (const one of members) {
      const y = scaling(one, view);
      const columns = view.off.has("intervals") ? [one.v] : [one.v, one.lo ?? [], one.hi ?? []];
      one.at.forEach((k, i) => {
        if (one.start + k < from - 0.5 || one.start + k > to + 0.5) return;
        for (const value of columns.map((column) => y(column[i]))) {
          if (value < low) low = value;
          if (value > high) high = value;
        }
      });
    }
    if (low > high) [low, high] = [1, 2];
    const log = view.scale === "log";
    let [a, b] = log ? [Math.log(low), Math.log(high)] : [low, high];
    if (b - a <= 1e-3 * Math.abs(b)) {
      const more = log ? 0.1 : 0.1 * Math.abs(b) || 1;
      [a, b] = [a - more, b + more];
    }
    if (!log && a >= 0 && a < 0.35 * b) a = 0;
    [a, b] = [a - 0.13 * (b - a), b + (0.08 + headroom) * (b - a)];
    figure.y_range.setv(log ? { start: Math.exp(a), end: Math.exp(b) } : { start: a, end: b });
  }

  return {
    token, colourOf, widthOf, widthOfText, levelAt, reference, scaling, valueTexts, figureOf, fit,
  };
})();
