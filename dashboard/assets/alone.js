/* What the scripts of a page that stands alone need of site.js. */
"use strict";

const observatory = {
  say: (text) => { document.getElementById("said").textContent = text; },
};
