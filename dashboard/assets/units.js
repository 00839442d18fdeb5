/* observatory/text/units.py once more, text for text; a browser test holds the two together. */
"use strict";

observatory.units = (() => {
  const MISSING = "-";
  const TIMES = [[1e-9, "ns"], [1e-6, "µs"], [1e-3, "ms"], [1, "s"]];
  const SIZES = [[1, "B"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"], [1e12, "TB"]];
  const BEYOND = 1e15;
  const MORE = 3;
  const SCALES = new Map([["seconds", TIMES], ["bytes", SIZES.slice(1)]]);
  const LARGEST = new Map([["seconds", 99.95], ["bytes", BEYOND]]);

  const MINUS = "\u2212";
  const DIRECTIONS = new Map([["seconds", ["slower", "faster"]], ["bytes", ["larger", "smaller"]]]);
  // dashboard/rendering.py adds the units of the catalogue.
  const COUNTED = new Set();
  const UNIT = /^(?=.{1,24}$)[A-Za-zµ%°](?:[A-Za-zµ%°/^() ²]|\.(?![A-Za-z]))*$/;
  const ENDING = /^[^ ]*[0-9] [^0-9]+$/;

  /** Three digits and a unit; minutes and hours above 100 s. */
  function seconds(value) {
    if (value < 0) return `-${seconds(-value)}`;
    if (value >= BEYOND) return "over 30 million years";
    if (value >= 99.95) return longTime(Number(fixed(value, 0)));
    return value === 0 ? "0 s" : scaled(value, TIMES);
  }

  /** Bytes in powers of 1000. */
  function size(value) {
    if (Math.abs(value) < 1000) return `${fixed(value, 0)} B`;
    if (value >= BEYOND) return "over 1000 TB";
    return value < 0 ? `-${size(-value)}` : scaled(value, SIZES);
  }

  /** A count with thousands apart; three digits where it is a small one and not whole. */
  function count(value) {
    if (value < 0) return `-${count(-value)}`;
    if (value >= BEYOND) return "over a million billions";
    const whole = Number.isInteger(value) || value >= 99.95;
    return whole ? apart(fixed(value, 0)) : general(value, 3);
  }

  /** A share or a relative change, with as many digits as anybody reads. */
  function percent(fraction) {
    if (fraction < 0) return `-${percent(-fraction)}`;
    const value = 100 * fraction;
    if (value >= BEYOND) return "over a million billion %";
    if (value > 0 && value < 0.01) return "under 0.01 %";
    return `${value < 9.95 ? general(value, 2) : apart(fixed(value, 0))} %`;
  }

  /** How a value changed, by the ratio of new to old: "−23 %", and from twice on "×4.5", "÷4.5". */
  function signed(ratio) {
    if ((ratio > 0.5 && ratio < 2) || ratio === 0) {
      const said = percent(Math.abs(ratio - 1)), sign = ratio < 1 ? MINUS : ratio > 1 ? "+" : "";
      return said[0] === "u" ? `under ${sign}${said.slice(6)}` : sign + said;
    }
    const [sign, factor] = ratio > 1 ? ["×", ratio] : ["÷", 1 / ratio];
    if (factor > 1000) return `over ${sign}1,000`;
    return sign + (factor < 9.95 ? general(factor, 2) : apart(fixed(factor, 0)));
  }

  /** The size of a change, of either direction. */
  const relative = (ratio) => Math.abs(ratio - 1);

  /** What a value in this unit is that went up or down: higher is worse, always. */
  const direction = (unit, up) => (DIRECTIONS.get(unit) ?? ["higher", "lower"])[up ? 0 : 1];

  /** What became of a value, in a word and as its relative change: "faster: −23 %". */
  function effect(base, head, unit) {
    const ratio = head / base;
    if (base === head || !(base > 0 && head > 0 && ratio > 0 && Number.isFinite(ratio))) {
      return difference(base, head, unit);
    }
    return `${direction(unit, head > base)}: ${signed(ratio)}`;
  }

  /** What became of a value, in a word and as a difference: "lower: −5". */
  function difference(base, head, unit) {
    if (base === head) return "the same";
    const sign = head > base ? "+" : MINUS;
    return `${direction(unit, head > base)}: ${sign}${human(Math.abs(head - base), unit)}`;
  }

  /** A value with its unit; what the observatory counts is named by its metric; "-" is no value. */
  function human(value, unit) {
    if (value == null || Number.isNaN(value)) return MISSING;
    if (!Number.isFinite(value)) return value > 0 ? "infinite" : "-infinite";
    if (unit === "seconds") return seconds(value);
    if (unit === "bytes") return size(value);
    return COUNTED.has(unit) || !UNIT.test(unit) ? count(value) : `${count(value)} ${unit}`;
  }

  /** From BASE to HEAD, in one scale where both can be read in it; the unit is written once. */
  const change = (base, head, unit) => pair(base, head, unit, " → ");

  /** Two values in one scale, if the smaller is at least a thousandth of it. */
  function pair(one, other, unit, joint) {
    if (one != null && other != null) {
      // Not Math.min and max: Python's treat NaN otherwise.
      const [smaller, larger] = [other < one ? other : one, other > one ? other : one];
      if (smaller > 0 && SCALES.has(unit) && larger < LARGEST.get(unit)) {
        const [scale, name] = scaleOf(larger, SCALES.get(unit));
        if (smaller >= 0.001 * scale && larger >= 0.9995 * scale) {
          return `${toldApart(one / scale, other / scale).join(joint)} ${name}`;
        }
      }
    }
    return paired(human(one, unit), human(other, unit), joint);
  }

  /** Two texts; the unit that both end with is written once. */
  function paired(one, other, joint) {
    const space = one.indexOf(" "), unit = one.slice(space);
    const shared = ENDING.test(one) && other.includes(" ") && other.slice(other.indexOf(" ")) === unit;
    return `${shared ? one.slice(0, space) : one}${joint}${other}`;
  }

  function longTime(whole) {
    const minutes = Math.floor(whole / 60);
    const two = (number) => String(number).padStart(2, "0");
    if (minutes < 60) return `${minutes} min ${two(whole % 60)} s`;
    return `${apart(String(Math.floor(minutes / 60)))} h ${two(minutes % 60)} min`;
  }

  function scaled(value, scales) {
    const [scale, name] = scaleOf(value, scales);
    return `${digits(value / scale)} ${name}`;
  }

  function scaleOf(value, scales) {
    const rounded = Number(exponential(value, 2));
    return scales.findLast(([scale]) => rounded >= scale * (1 - 1e-9)) ?? scales[0];
  }

  /** Two numbers with three digits, or with up to three more if those do not tell them apart. */
  function toldApart(one, other) {
    for (let more = 0; more <= MORE; more += 1) {
      const texts = [short(one, more), short(other, more)];
      if (texts[0] !== texts[1]) return texts;
    }
    return [short(one), short(other)];
  }

  const short = (number, more = 0) =>
    (number >= 0.0995 ? digits(number, more) : general(number, 2 + more));

  function digits(number, more = 0) {
    const rounded = Number(exponential(number, 2 + more));
    return fixed(rounded, (rounded < 9.995 ? 2 : rounded < 99.95 ? 1 : 0) + more);
  }

  /* Python rounds a tie to the even digit, JavaScript away from zero; both look at the exact
     binary value. A tie shows in more digits than any double that is not one can hide it in. */
  const FURTHER = 60;

  /** The digits of a tie whose last digit is even as it is; null for all other numbers. */
  function evenTie(exact) {
    const kept = exact.slice(0, -FURTHER).replace(/\.$/, "");
    const tied = /^50*$/.test(exact.slice(-FURTHER));
    return tied && Number(kept.at(-1)) % 2 === 0 ? kept : null;
  }

  /** Python's `:.{places}f`. */
  function fixed(value, places) {
    if (!Number.isFinite(value)) return unreal(value);
    if (value < 0 || Object.is(value, -0)) return `-${fixed(-value, places)}`;
    return evenTie(value.toFixed(places + FURTHER)) ?? value.toFixed(places);
  }

  /** Python's `:.{places}e`, but for the way the exponent is written. */
  function exponential(value, places) {
    if (!Number.isFinite(value)) return String(value);
    if (value < 0 || Object.is(value, -0)) return `-${exponential(-value, places)}`;
    const [mantissa, power] = value.toExponential(places + FURTHER).split("e");
    const kept = evenTie(mantissa);
    return kept === null ? value.toExponential(places) : `${kept}e${power}`;
  }

  /** Python's `:.{figures}g`. */
  function general(value, figures) {
    if (!Number.isFinite(value)) return unreal(value);
    const rounded = exponential(value, figures - 1);
    const [mantissa, power] = rounded.split("e");
    const bare = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
    if (power < -4 || power >= figures) {
      return `${bare(mantissa)}e${power[0]}${power.slice(1).padStart(2, "0")}`;
    }
    return bare(fixed(Number(rounded), figures - 1 - power));
  }

  function unreal(value) {
    return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }

  function apart(whole) {
    return whole.replace(/\B(?=(\d{3})+$)/g, ",");
  }

  return {
    COUNTED, seconds, size, count, percent, signed, relative, direction, effect, difference, human, change,
    pair,
  };
})();
