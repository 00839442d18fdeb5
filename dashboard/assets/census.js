/* The census: filters of its rows, and the reason of a place that somebody points at.
   Texts are strangers' and only ever become text. */
"use strict";

(() => {
  const { choices, choose } = observatory;
  const table = document.getElementById("census");
  const controls = document.getElementById("census-controls");
  const words = document.getElementById("census-words");
  const changed = document.getElementById("census-changed");
  const count = document.getElementById("census-count");
  const told = document.getElementById("census-note");
  const notes = document.querySelectorAll("#census-reasons > dt");
  const rows = [...table.tBodies[0].rows];
  const names = rows.map((row) => row.cells[0].textContent.toLowerCase());
  const subjects = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);

  function filter() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      const fits = wanted.every((word) => names[i].includes(word));
      row.hidden = !fits || (changed.checked && !row.classList.contains("changed"));
      shown += !row.hidden;
    });
    count.textContent = `${shown} of ${rows.length} graphs`;
    choose({ q: words.value, changed: changed.checked ? "1" : "" });
  }

  /** Say why, of the place that an event is at. */
  function tell(event) {
    const place = event.target.closest("td");
    if (!place || !table.contains(place)) return;
    const note = place.dataset.n === undefined ? "" : notes[Number(place.dataset.n)].textContent;
    const fate = /f-([a-z]+)/.exec(place.className)?.[1] ?? table.dataset.good;
    const what = fate === "none" ? "not measured" : fate;
    told.textContent = `${place.parentElement.cells[0].textContent} with ` +
      `${subjects[place.cellIndex]}: ${what}${note ? ` (${note})` : ""}`;
    told.hidden = false;
  }

  function follow() {
    const asked = choices();
    words.value = (asked.q ?? [""])[0];
    changed.checked = (asked.changed ?? [""])[0] === "1";
    filter();
  }

  controls.hidden = false;
  controls.addEventListener("submit", (event) => event.preventDefault());
  words.addEventListener("input", filter);
  changed.addEventListener("change", filter);
  table.addEventListener("click", tell);
  table.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse") tell(event);
  });
  window.addEventListener("hashchange", follow);
  follow();
})();
