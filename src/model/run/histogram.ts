// Histograms of durations with exponential buckets: percentiles are accurate to within 10%.

/** The count of durations per bucket, without trailing empty buckets. */
export type Histogram = number[];

// Bucket 0 ends at 1 ms; each further one is 2^(1/4) times as wide as the one before it, up to 4.6 hours.
const perDoubling = 4;
const bucketMax = 24 * perDoubling + 1;

export function bucketOf(durationMs: number): number {
  if (durationMs < 1) return 0;
  return Math.min(1 + Math.floor(perDoubling * Math.log2(durationMs)), bucketMax);
}

/** Adds one duration, or takes back one that was added, which may leave less than none here if it was added to another. */
export function count(histogram: Histogram, durationMs: number, by: 1 | -1 = 1): void {
  const bucket = bucketOf(durationMs);
  while (histogram.length <= bucket) histogram.push(0);
  histogram[bucket]! += by;
}

/** Adds the counts of another histogram. */
export function addTo(histogram: Histogram, other: Histogram): void {
  while (histogram.length < other.length) histogram.push(0);
  for (const [bucket, durations] of other.entries()) histogram[bucket]! += durations;
}

/** The percentile in ms for a share in 0..1, as the middle of its bucket; null for an empty histogram. */
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
