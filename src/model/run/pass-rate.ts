// Pass rates of manual runs with their 95 % Wilson interval, and whether two launches differ.
import { wilson } from "../wilson.ts";

/**
 * `of`: the fully evaluated runs that passed or failed, a failed call of the agent included. `share` and the limits of its
 * interval are in 0..1.
 */
export type PassRate = { passed: number; of: number; share: number; low: number; high: number };

/** Null if no run was decided. */
export function passRateOf(passed: number, of: number): PassRate | null {
  if (of === 0) return null;
  const share = passed / of;
  return { passed, of, share, ...wilson(share, of) };
}

/** Of the same test and input in two launches: how many broke and how many were fixed, and whether that is more than chance. */
export type Difference = { broke: number; mended: number; significant: boolean };

/** Fewer pairs that differ say nothing, however one-sided they are. */
const differingMin = 10;
const level = 0.05;

/** An exact two-sided sign test: if nothing had changed, each pair that differs would be as likely to break as to be fixed. */
export function differenceOf(broke: number, mended: number): Difference {
  const differing = broke + mended;
  const significant = differing >= differingMin && signTest(Math.min(broke, mended), differing) <= level;
  return { broke, mended, significant };
}

/** The probability that `fewer` or less of `of` fair coins, or as few of the others, show heads. */
function signTest(fewer: number, of: number): number {
  // In logarithms, because the first term underflows from 1,075 on.
  let logTerm = -of * Math.LN2;
  let sum = Math.exp(logTerm);
  for (let heads = 1; heads <= fewer; heads++) {
    logTerm += Math.log((of - heads + 1) / heads);
    sum += Math.exp(logTerm);
  }
  return Math.min(1, 2 * sum);
}
