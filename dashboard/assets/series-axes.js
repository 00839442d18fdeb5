/* Scales of charts: what is drawn at which height, the ticks and their words. Draws nothing. */
"use strict";

observatory.seriesAxes = (() => {
  const SCALES = {
    seconds: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]],
    bytes: [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]],
  };
  const DAY = 86400, FAR = 6;

  const ruler = document.createElement("canvas").getContext("2d");
  const token = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const colourOf = (one) => token(one.colour) || token("other");
  const brief = (text, most = 18) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const font = (weight = 400) => `${weight} 11px ${token("sans")}`;

  /** How wide a text is in pixels. */
  function widthOfText(text, weight = 600) {
    ruler.font = font(weight);
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

  /** How values are drawn: as they are, or as per cent of a level; null where that cannot be. */
  function scaling(one, view) {
    const share = view.of ? 100 / reference(one, view.of) : 1;
    return (value) => {
      const y = value == null ? NaN : value * share;
      return Number.isFinite(y) && (view.scale !== "log" || y > 0) ? y : null;
    };
  }

  /** Whether series of one unit lie so far apart that only a logarithmic scale shows them all. */
  function farApart(series) {
    return [...Map.groupBy(series, (one) => one.unit).values()].some((members) => {
      const sizes = members.map((one) => reference(one, "newest"));
      const positive = members.every((one) => one.v.every((value) => value > 0));
      return positive && Math.max(...sizes) > FAR * Math.min(...sizes);
    });
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

  /** Round values between two, about `most` of them. */
  function valueTicks(low, high, most, log) {
    if (log && high > 8 * low) {
      const powers = Math.ceil(Math.log10(high / low));
      const leads = powers > most ? [1] : powers > most / 2 ? [1, 3] : [1, 2, 5];
      const stride = Math.ceil(powers / Math.max(2, most)), found = [];
      for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++) {
        if (power % stride === 0) found.push(...leads.map((lead) => lead * 10 ** power));
      }
      return found.filter((tick) => tick >= low && tick <= high);
    }
    const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((lead) => lead * power).find((each) => each >= rough * 0.9999);
    const first = Math.ceil(low / step), count = Math.floor(high / step) - first + 1;
    return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)));
  }

  /** The slots that are named on the axis: the newest, and before it as many as have room. */
  function slotTicks(view, low, high, width) {
    const first = Math.max(0, Math.ceil(low)), last = Math.min(view.slots.length - 1, Math.floor(high));
    const shown = view.slots.slice(first, last + 1);
    const widest = shown.reduce((most, slot) => Math.max(most, slot.label.length), 0);
    const room = 6.6 * Math.min(widest, 18) + 16;
    const stride = Math.ceil((room * (high - low)) / width) || 1;
    const found = [];
    for (let x = last; x >= first; x -= stride) found.unshift(x);
    return found;
  }

  const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

  /** Beginnings of years, months or days, in seconds: about one for every 80 pixels. */
  function dateTicks(low, high, width) {
    const most = Math.max(2, width / 80), days = (high - low) / DAY / most;
    const from = new Date(low * 1000), found = [];
    const put = (date) => {
      const at = date.getTime() / 1000;
      if (at >= low && at <= high) found.push(at);
      return at < high;
    };
    if (days > 20) {
      const months = [1, 2, 3, 6, 12, 24, 60, 120, 240].find((each) => each * 30.4 >= days) ?? 600;
      const start = Math.floor((from.getUTCFullYear() * 12 + from.getUTCMonth()) / months);
      for (let k = start; put(new Date(Date.UTC(2000, k * months - 24000))); k++);
    } else {
      const step = [1, 2, 7, 14, 21].find((each) => each >= days) ?? 21;
      const start = Math.floor(low / DAY / step);
      for (let k = start; put(new Date(k * step * DAY * 1000)); k++);
    }
    return found;
  }

  function dateTexts(ticks) {
    const dates = ticks.map((tick) => new Date(tick * 1000));
    if (dates.every((date) => date.getUTCDate() === 1 && date.getUTCMonth() === 0)) {
      return dates.map((date) => String(date.getUTCFullYear()));
    }
    const months = dates.every((date) => date.getUTCDate() === 1);
    return dates.map((date, i) => {
      const year = date.getUTCFullYear(), month = MONTHS[date.getUTCMonth()];
      const fresh = i === 0 || year !== dates[i - 1].getUTCFullYear();
      return (months ? month : `${date.getUTCDate()} ${month}`) + (fresh ? ` ${year}` : "");
    });
  }

  /** The ends of y for what lies within a span of slots, with `headroom` above it. */
  function fit(members, view, [from, to], headroom) {
    let low = Infinity, high = -Infinity;
    const see = (value) => {
      if (value == null) return;
      if (value < low) low = value;
      if (value > high) high = value;
    };
    for (const one of members) {
      const y = scaling(one, view);
      const columns = view.off.has("intervals") ? [one.v] : [one.v, one.lo ?? [], one.hi ?? []];
      one.places.forEach((place, i) => {
        if (place >= from && place <= to) columns.forEach((column) => see(y(column[i])));
      });
    }
    if (low > high) [low, high] = [1, 2];
    const log = view.scale === "log";
    let [a, b] = log ? [Math.log(low), Math.log(high)] : [low, high];
    if (b - a <= 1e-3 * Math.abs(b)) {
      const more = log ? 0.1 : 0.1 * Math.abs(b) || 1;
      [a, b] = [a - more, b + more];
    }
    const whole = !log && a >= 0 && a < 0.35 * b;
    if (whole) a = 0;
    [a, b] = [a - 0.08 * (b - a), b + (0.06 + headroom) * (b - a)];
    return log ? [Math.exp(a), Math.exp(b)] : [a, b];
  }

  return {
    token, colourOf, brief, font, widthOfText, levelAt, reference, farApart, scaling, valueTexts, valueTicks,
    slotTicks, dateTicks, dateTexts, fit,
  };
})();
