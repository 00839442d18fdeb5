/* What the compare page says: strangers' texts made fit to be shown (as observatory/text/plain.py and
   observatory/text/markdown.py do) and changes in words (as observatory/text/comparison/phrases.py does). */
"use strict";

observatory.words = (() => {
  const { count, difference, direction, signed } = observatory.units;
  const RIGHT_TO_LEFT =
    /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
  const SPACE = /(?!\ufeff)[\s\x1c-\x1f\x85]/u;

  let phrases = new Map(); // by metric: of a count that rose, and of one that fell

  /** One line of visible characters from left to right. */
  function clean(text) {
    const visible = (one) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(one) && !RIGHT_TO_LEFT.test(one);
    const all = /^[ -~]*$/.test(text) ? text : Array.from(text.normalize("NFC"),
      (one) => (SPACE.test(one) ? " " : visible(one) ? one : "\ufffd")).join("");
    return all.trim().replace(/ +/g, " ");
  }

  /** At most so many characters; the middle goes, both ends say more. */
  function shorten(text, most) {
    const cleaned = clean(text);
    if (cleaned.length <= most) return cleaned;
    const characters = Array.from(cleaned);
    if (characters.length <= most) return cleaned;
    const tail = Math.floor(most / 3);
    const head = characters.slice(0, most - tail - 1).join("").trimEnd();
    return `${head}…${characters.slice(-tail).join("").trimStart()}`;
  }

  const several = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

  /** What became of a value: "slower: +30 %", "faster: ÷3.3"; without a ratio "higher: +35". */
  function effect({ unit, base, head }, ratio) {
    const known = ratio > 0 && Number.isFinite(ratio);
    return known ? `${direction(unit, ratio >= 1)}: ${signed(ratio)}` : difference(base, head, unit);
  }

  /** What an exact alarm, or its end, says of the number by which it changed. */
  function exact(row) {
    const rise = row.head - row.base, many = Math.abs(rise);
    const known = phrases.get(row.metric)?.[rise > 0 ? 0 : 1];
    return known?.length ? known[many === 1 ? 0 : 1].replace("{}", count(many)) : effect(row);
  }

  /** A code span: what stands in one is all that GitHub leaves alone. */
  function code(text) {
    const cleaned = clean(text) || "?";
    const runs = (cleaned.match(/`+/g) ?? []).map((run) => run.length);
    const fence = "`".repeat(Math.max(0, ...runs) + 1);
    const pad = cleaned.startsWith("`") || cleaned.endsWith("`") ? " " : "";
    return fence + pad + cleaned + pad + fence;
  }

  /** Words of ours in Markdown: a number and its unit stay on one line. */
  function prose(text) {
    return text.replace(/(?<=\d) (?=(?:%|[nµm]?s|[kMGT]?B|min|h)(?:\W|$))/g, "\u00a0");
  }

  const hasPhrase = (metric) => phrases.has(metric);
  const learn = (all) => { phrases = new Map(Object.entries(all)); };

  return { clean, shorten, several, effect, exact, code, prose, hasPhrase, learn };
})();
