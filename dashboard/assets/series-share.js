/* What is shown, as a picture and as JSON. Both are made here, from what is drawn: files of their own
   for tens of thousands of series would be most of a site, and nearly none of them would be read. */
"use strict";

observatory.seriesShare = (() => {
  const { element, say, seriesAxes, seriesMarks, seriesWords } = observatory;
  const { colourOf, font, token } = seriesAxes;
  const MARGIN = 16, LINE = 20, TITLE = 28; // pixels

  function save(blob, name) {
    const address = URL.createObjectURL(blob);
    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    say(`${name} is saved`);
  }

  /** A name for files: letters, digits and the signs that every system takes. */
  function nameOf(series, ending) {
    if (!series.length) throw new Error("Every series is hidden, so there is nothing to save.");
    const [one] = series, more = series.length > 1 ? `-and-${series.length - 1}-more` : "";
    const words = `${one.name}-${one.metric}`.replace(/[^A-Za-z0-9_.]+/g, "-");
    return `${words.replace(/^[-.]+/, "").slice(0, 80)}${more}.${ending}`;
  }

  /** The charts with a title above them and their series below, as PNG. */
  async function picture(page, series, drawn) {
    const name = nameOf(series, "png"), charts = drawn.plots.map((plot) => plot.ctx.canvas), ratio = devicePixelRatio || 1;
    const tall = charts.reduce((sum, chart) => sum + chart.height / ratio, 0);
    const canvas = document.createElement("canvas"), ctx = canvas.getContext("2d");
    const width = drawn.view.width + 2 * MARGIN;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round((tall + TITLE + series.length * LINE + 2 * MARGIN) * ratio);
    ctx.scale(ratio, ratio);
    ctx.fillStyle = token("card");
    ctx.fillRect(0, 0, canvas.width, canvas.height);
    let y = MARGIN;
    write(ctx, document.getElementById("name").textContent, MARGIN, y + 8, font(650).replace("11px", "15px"));
    y += TITLE;
    for (const { ctx: { canvas: chart }, over } of drawn.plots) {
      ctx.drawImage(chart, MARGIN, y, chart.width / ratio, chart.height / ratio);
      const pins = over.querySelector(".glass"), { offsetLeft, offsetTop, clientWidth, clientHeight } = over;
      if (pins.width) ctx.drawImage(pins, MARGIN + offsetLeft, y + offsetTop, clientWidth, clientHeight);
      y += chart.height / ratio;
    }
    for (const one of series) {
      y += LINE;
      key(ctx, one, y);
      const where = `${one.name}, ${one.metric}, ${seriesWords.environment(page, one.line)}`;
      write(ctx, where, MARGIN + 34, y, font(400).replace("11px", "12px"));
    }
    save(await new Promise((done) => canvas.toBlob(done, "image/png")), name);
  }

  function write(ctx, text, x, y, style) {
    ctx.font = style;
    ctx.fillStyle = token("ink");
    ctx.textBaseline = "middle";
    ctx.fillText(text, x, y, ctx.canvas.width / (devicePixelRatio || 1) - x - MARGIN);
  }

  /** The line and mark that a series is drawn with. */
  function key(ctx, one, y) {
    ctx.strokeStyle = ctx.fillStyle = colourOf(one);
    ctx.lineWidth = 2;
    ctx.setLineDash(one.dash);
    ctx.beginPath();
    ctx.moveTo(MARGIN, y);
    ctx.lineTo(MARGIN + 26, y);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.beginPath();
    seriesMarks.shape(one.shape)(ctx, MARGIN + 13, y, 4);
    ctx.fill();
  }

  /** All values of what is shown, with their subjects, levels, steps and alerts. */
  function asJson(page, series) {
    return JSON.stringify({
      view: location.href,
      series: series.map((one) => {
        const { machine, env, era } = page.data.lines[one.line], steps = (one.own ?? one.steps).map(({ at, words, numbers }) => ({ at, words, numbers }));
        const { id, name, metric, unit, kind, noise, drift, alerts } = one;
        return {
          id, name, metric, unit, kind, machine, environment: env, era, noise, drift, steps,
          alerts: alerts.map(({ id: alert, state, kind: what, sentence }) => ({ id: alert, state, kind: what, sentence })),
          values: one.v.map((value, i) => valueOf(page, one, value, i)),
        };
      }),
    }, null, 1);
  }

  function valueOf(page, one, value, i) {
    const { label, commit, date } = page.slots[one.places[i]];
    return {
      subject: label, commit, date, value, low: one.lo?.[i], high: one.hi?.[i], samples: one.n?.[i],
      level: seriesAxes.levelAt(one, i),
    };
  }

  function json(page, series) {
    save(new Blob([asJson(page, series)], { type: "application/json" }), nameOf(series, "json"));
  }

  return { picture, json, asJson };
})();
