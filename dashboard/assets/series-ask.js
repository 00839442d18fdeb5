/* Asks for the data of the series page as soon as its address is known, while the scripts that draw
   are still being loaded; and gives the data of single series. */
"use strict";

observatory.seriesFiles = (() => {
  const { choices, lines, load } = observatory;
  const MOST = 12; // series on one page
  const split = new Set(JSON.parse(document.getElementById("series").dataset.split));

  /** The file that holds a series, by the first digits of its id; null for what is no id. */
  function fileOf(id) {
    if (!/^[0-9a-f]+$/.test(id)) return null;
    let size = 0;
    while (split.has(id.slice(0, size))) {
      if (size === id.length) return null;
      size += 1;
    }
    return `series-${id.slice(0, size)}`;
  }

  async function one(id) {
    const name = fileOf(id), file = name ? await load(name).catch(() => ({})) : {};
    return Object.hasOwn(file, id) ? { id, ...JSON.parse(file[id]) } : null;
  }

  /** The series with these ids, without those that there are not. */
  async function get(ids) {
    return (await Promise.all(ids.map(one))).filter(Boolean);
  }

  const asked = (choices().s ?? []).slice(0, MOST);
  for (const name of asked.map(fileOf).filter(Boolean)) load(name).catch(() => {});
  if (asked.length) lines().catch(() => {});
  else observatory.script("series-grid").catch(() => {});
  return { get, MOST };
})();
