/* Subjects of several lines along one axis: a commit that several environments measured is one slot.
   The axis begins and ends where the values do. */
"use strict";

observatory.seriesLayout = (() => {
  const { seriesChart } = observatory;

  /** Slots by date. A slot: {x, name, at: line -> subject, label, commit, date, versions,
      href, ref, release}. Its name is that on the line of the first series which has it: what was
      chosen comes before what is overlaid, so that names in an address outlast an overlay. */
  function slotsOf(lines, series) {
    const known = new Map();
    for (const line of new Set(series.map((one) => one.line))) {
      const releases = new Set(lines[line].releases ?? []);
      const [first, last] = extent(series.filter((one) => one.line === line));
      lines[line].subjects.slice(first, last + 1).forEach(([words, commit, date, versions, href, ref], i) => {
        const k = first + i, there = known.get(commit), release = releases.has(k);
        if (there && !there.at.has(line)) {
          there.at.set(line, k);
          there.release ||= release;
          return;
        }
        const label = words.replace(/\s+/g, " "), name = `${line}-${k}`;
        known.set(there ? `${commit} ${name}` : commit,
          { name, at: new Map([[line, k]]), label, commit, date, versions, href, ref, release });
      });
    }
    const slots = [...known.values()].sort((a, b) =>
      (a.date < b.date ? -1 : a.date > b.date ? 1 : 0)); // stable: else the order of their line
    slots.forEach((slot, x) => { slot.x = x; });
    return slots;
  }

  /** The first and the last subject of a line with a value in any of its series. */
  function extent(series) {
    const ats = series.map((one) => one.at ?? [0, one.v.length - 1]);
    return [Math.min(...ats.map((at) => at[0])), Math.max(...ats.map((at) => at.at(-1)))];
  }

  /** A series with where and how it is drawn. `places`: the slot of each value. */
  function prepared(slots, raw, i, all) {
    const at = raw.at ?? raw.v.map((_, k) => k);
    const own = new Map(slots.filter((slot) => slot.at.has(raw.line))
      .map((slot) => [slot.at.get(raw.line), slot.x]));
    const places = at.map((k) => own.get(k));
    const value = new Map(places.map((place, index) => [place, index]));
    const [first, last] = [places[0], places.at(-1)];
    const gaps = [...own.values()].filter((x) => x > first && x < last && !value.has(x));
    const twin = (other) => other.colour === raw.colour && other.unit === raw.unit;
    const dash = all.slice(0, i).filter(twin).length;
    return {
      ...raw, at, places, value, gaps,
      shape: seriesChart.SHAPES[i % seriesChart.SHAPES.length],
      dash: seriesChart.DASHES[dash % seriesChart.DASHES.length],
    };
  }

  /** Where each subject is, by all its names ("line-number"). */
  function namesOf(slots) {
    return new Map(slots.flatMap((slot) => [...slot.at].map(([line, k]) => [`${line}-${k}`, slot.x])));
  }

  /** The values of x: seconds, or the number of the slot. */
  function xsOf(slots, byDate) {
    return byDate ? slots.map((slot) => Date.parse(slot.date) / 1000) : slots.map((slot) => slot.x);
  }

  return { slotsOf, prepared, namesOf, xsOf };
})();
