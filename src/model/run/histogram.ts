// Durations counted in buckets that grow by a fixed ratio, from which percentiles are read to within 10 %.

/** How many durations fell into each bucket; buckets after the last that holds one are left out. */
export type Histogram = number[];

// Bucket 0 ends at 1 ms; each further one is 2^(1/4) times as wide as the one before it, up to 4.6 hours.
const perDoubling = 4;
const bucketMax = 24 * perDoubling + 1;

export function bucketOf(durationMs: number): number {
  if (durationMs < 1) return 0;
  return Math.min(1 + Math.floor(perDoubling * Math.log2(durationMs)), bucketMax);
}

/** Counts one duration in. */
export function count(histogram: Histogram, durationMs: number): void {
  const bucket = bucketOf(durationMs);
  while (histogram.length <= bucket) histogram.push(0);
  histogram[bucket]!++;
}

/** Counts in what another histogram counted. */
export function addTo(histogram: Histogram, other: Histogram): void {
  while (histogram.length < other.length) histogram.push(0);
  for (const [bucket, durations] of other.entries()) histogram[bucket]! += durations;
}

/** The duration in ms that a share of 0..1 of the durations do not exceed, at the middle of its bucket. */
export function percentile(histogram: Histogram, share: number): number | null {
  const total = histogram.reduce((sum, durations) => sum + durations, 0);
  if (total === 0) return null;
  let left = Math.max(1, Math.ceil(total * share));
  const bucket = histogram.findIndex(durations => {
    left -= durations;
    return left <= 0;
  });
  return bucket === 0 ? 0.5 : Math.round(2 ** ((bucket - 0.5) / perDoubling) * 10) / 10;
}
