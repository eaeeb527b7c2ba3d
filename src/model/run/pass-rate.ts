// Pass rates of manual runs: the 95 % Wilson interval of one, and Newcombe's interval of the difference of two.
import { wilson } from "../wilson.ts";

/**
 * `of`: the decided runs, which passed or failed, a failed call of the agent included. `share` and the limits of its
 * interval are in 0..1.
 */
export type PassRate = { passed: number; of: number; share: number; low: number; high: number };

/** Null if no run was decided. */
export function passRateOf(passed: number, of: number): PassRate | null {
  if (of === 0) return null;
  const share = passed / of;
  return { passed, of, share, ...wilson(share, of) };
}

/** `significant`: the interval does not contain 0. */
export type PassRateDifference = { share: number; low: number; high: number; significant: boolean };

/**
 * The later share minus the earlier one, with its 95 % interval by Newcombe's hybrid score method (method 10 in Newcombe
 * 1998, Statistics in Medicine 17, 873-890). Two Wilson intervals may overlap and the shares still differ significantly,
 * so their overlap is not the test.
 */
export function differenceOf(before: PassRate | null, after: PassRate | null): PassRateDifference | null {
  if (!before || !after) return null;
  const share = after.share - before.share;
  const low = share - Math.hypot(after.share - after.low, before.high - before.share);
  const high = share + Math.hypot(after.high - after.share, before.share - before.low);
  return { share, low, high, significant: low > 0 || high < 0 };
}
