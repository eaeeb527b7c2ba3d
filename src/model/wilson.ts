// The 95% Wilson score interval of a share.
// https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval#Wilson_score_interval

/** `share` in 0..1 of `of` independent cases; 0..1 if there are none. */
export function wilson(share: number, of: number): { low: number; high: number } {
  if (of === 0) return { low: 0, high: 1 };
  const z = 1.959964;
  const z2 = (z * z) / of;
  const center = (share + z2 / 2) / (1 + z2);
  const half = (z * Math.sqrt((share * (1 - share)) / of + z2 / (4 * of))) / (1 + z2);
  return { low: Math.max(0, center - half), high: Math.min(1, center + half) };
}
