/* Pointers on charts: pointing, pinning, dragging over a span to zoom in, the wheel; and the strip
   with the whole history below them, whose window is moved and drawn. Mouse, pen and finger alike. */
"use strict";

observatory.seriesHand = (() => {
  const { colourOf, scaling } = observatory.seriesAxes;
  const FEWEST = 1; // subjects between the ends of a span
  const NEAR = 5, EDGE = 12, APART = 10; // pixels

  /** The slot that is nearest to a value of x. */
  function slotAt(view, x) {
    const { xs } = view;
    let low = 0, high = xs.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (xs[middle] < x) low = middle;
      else high = middle;
    }
    return x - xs[low] < xs[high] - x ? low : high;
  }

  /** A span that is large enough and within the history. */
  function allowed(view, from, to) {
    const last = view.slots.length - 1;
    const low = Math.max(0, Math.min(from, to)), high = Math.min(last, Math.max(from, to));
    if (high - low >= FEWEST) return [low, high];
    return high < last ? [low, Math.min(last, low + FEWEST)] : [Math.max(0, last - FEWEST), last];
  }

  /** A span `factor` times as long about a slot that stays where it is; it changes by 1 at least. */
  function closer(view, slot, factor) {
    const [from, to] = view.span, round = factor > 1 ? Math.ceil : Math.floor;
    const more = factor > 1 ? 1 : 0;
    return allowed(view, slot - Math.max(round((slot - from) * factor), more),
      slot + Math.max(round((to - slot) * factor), more));
  }

  /** Follow the pointers on a chart and tell the page of them. */
  function take(plot, view) {
    const { over } = plot, { tell } = view;
    const at = (event) => event.clientX - over.getBoundingClientRect().left;
    const slot = (left) => slotAt(view, plot.posToVal(left, "x"));
    const pinch = pinching(plot, view);
    let from = null, moved = false;

    over.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      if (pinch.down(event, at(event))) {
        done();
        tell.point(null);
        return;
      }
      from = at(event);
      moved = false;
    });
    over.addEventListener("pointermove", (event) => {
      const left = at(event);
      if (pinch.move(event, left)) return;
      if (from != null && Math.abs(left - from) > NEAR) {
        if (!moved) over.setPointerCapture(event.pointerId);
        moved = true;
      }
      if (moved) {
        const [a, b] = [from, left].sort((one, other) => one - other);
        plot.setSelect({ left: a, width: b - a, top: 0, height: over.clientHeight }, false);
      }
      tell.point(slot(left), event);
    });
    over.addEventListener("pointerup", (event) => {
      pinch.up(event);
      if (from == null) return;
      if (moved) tell.span(...allowed(view, slot(from), slot(at(event))));
      else tell.pin(slot(at(event)));
      done();
    });
    const done = () => {
      from = null;
      moved = false;
      plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    };
    over.addEventListener("pointercancel", (event) => {
      pinch.up(event);
      done();
    });
    over.addEventListener("pointerleave", () => moved || tell.point(null));
    over.addEventListener("dblclick", tell.twice);
    over.addEventListener("wheel", (event) => {
      // A page that scrolls must not stop at a chart: the wheel is the chart's while it has the focus.
      if (!tell.focused() && !event.ctrlKey) return;
      event.preventDefault();
      tell.span(...closer(view, slot(at(event)), event.deltaY > 0 ? 1.25 : 0.8));
    }, { passive: false });
  }

  /** Two fingers: what each of them touched stays under it. */
  function pinching(plot, view) {
    const fingers = new Map(); // by pointer: where it is
    let held = null; // by pointer: the value of x that it touched
    return {
      down(event, left) {
        if (event.pointerType !== "touch") return false;
        fingers.set(event.pointerId, left);
        held = fingers.size === 2
          ? new Map([...fingers].map(([id, at]) => [id, plot.posToVal(at, "x")])) : null;
        return held !== null;
      },
      move(event, left) {
        if (!held?.has(event.pointerId)) return false;
        fingers.set(event.pointerId, left);
        const [[one, a], [other, b]] = fingers;
        if (Math.abs(b - a) < APART) return true;
        const each = (held.get(other) - held.get(one)) / (b - a); // of x, for each pixel
        const low = held.get(one) - each * a, high = low + each * plot.over.clientWidth;
        if (each > 0) view.tell.span(...allowed(view, slotAt(view, low), slotAt(view, high)));
        return true;
      },
      up(event) {
        fingers.delete(event.pointerId);
        held = null;
      },
    };
  }

  /** The strip: the whole history, and a window on what is shown. */
  function strip(place, view) {
    const { xs } = view, air = view.byDate ? 0.015 * (xs.at(-1) - xs[0]) || 43200 : 0.5;
    const low = xs[0] - air, high = xs.at(-1) + air;
    const canvas = document.createElement("canvas"), pane = document.createElement("div");
    pane.className = "pane";
    place.replaceChildren(canvas, pane);
    const width = () => place.clientWidth;
    const toLeft = (x) => ((x - low) / (high - low)) * width();
    const slot = (left) => slotAt(view, low + (left / width()) * (high - low));

    function paint() {
      const ratio = devicePixelRatio || 1, height = place.clientHeight;
      canvas.width = Math.round(width() * ratio);
      canvas.height = Math.round(height * ratio);
      const ctx = canvas.getContext("2d");
      ctx.scale(ratio, ratio);
      const unit = view.series[0].unit;
      for (const one of view.series.filter((each) => each.unit === unit)) outline(ctx, one, height);
      show(view.span);
    }

    /** A series as a line, each about its own range. */
    function outline(ctx, one, height) {
      const y = scaling(one, { ...view, of: "" }), values = one.v.map(y);
      const known = values.filter((value) => value != null);
      const least = known.reduce((a, b) => Math.min(a, b), Infinity);
      const most = known.reduce((a, b) => Math.max(a, b), -Infinity);
      const tall = (value) => height - 5 - ((value - least) / (most - least || 1)) * (height - 10);
      ctx.strokeStyle = colourOf(one);
      ctx.lineWidth = 1;
      ctx.globalAlpha = 0.8;
      ctx.beginPath();
      values.forEach((value, i) => value != null && ctx.lineTo(toLeft(xs[one.places[i]]), tall(value)));
      ctx.stroke();
    }

    function show([from, to]) {
      const half = (i, j) => (xs[j] == null ? xs[i] : (xs[i] + xs[j]) / 2);
      const left = Math.max(0, toLeft(half(from, from - 1)));
      const right = Math.min(width(), toLeft(half(to, to + 1)));
      pane.style.left = `${left}px`;
      pane.style.width = `${Math.max(6, right - left)}px`;
      pane.hidden = from === 0 && to === xs.length - 1;
    }

    hold(place, pane, slot, view);
    paint();
    return { paint, show };
  }

  /** Drag the window or one of its ends; a drag beside it draws another. */
  function hold(place, pane, slot, view) {
    let grip = null;
    const at = (event) => event.clientX - place.getBoundingClientRect().left;
    place.onpointerdown = (event) => {
      const left = at(event), [from, to] = view.span;
      const a = pane.offsetLeft, b = a + pane.offsetWidth, inside = !pane.hidden;
      if (inside && Math.abs(left - a) < EDGE) grip = { fixed: to };
      else if (inside && Math.abs(left - b) < EDGE) grip = { fixed: from };
      else if (inside && left > a && left < b) grip = { start: slot(left), from, to };
      else grip = { fixed: slot(left) };
      place.setPointerCapture(event.pointerId);
    };
    place.onpointermove = (event) => {
      if (!grip) return;
      const now = slot(Math.min(Math.max(at(event), 0), place.clientWidth));
      if (grip.fixed != null) {
        if (now !== grip.fixed) view.tell.span(...allowed(view, grip.fixed, now));
        return;
      }
      const last = view.slots.length - 1;
      const by = Math.min(Math.max(now - grip.start, -grip.from), last - grip.to);
      view.tell.span(grip.from + by, grip.to + by);
    };
    place.onpointerup = place.onpointercancel = () => { grip = null; };
    place.ondblclick = () => view.tell.span(0, view.slots.length - 1);
  }

  return { take, strip, closer, allowed };
})();
