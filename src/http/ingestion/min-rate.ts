// Aborts uploads slower than a minimum rate.

/** At least so many bytes in every so many ms. */
export type Pace = { bytes: number; ms: number };

/** Slower than any line by which traces are sent or looked at. */
export const leastPace: Pace = { bytes: 100_000, ms: 5_000 };

/** Calls `late`, once, when fewer bytes were counted than had to be; nothing is asked any more after `stop`. */
export function keepPace(
  { bytes, ms }: Pace,
  late: () => void,
): { count(bytes: number): void; stop(): void } {
  let counted = 0;
  // What came while this thread was busy is counted first.
  const timer = setInterval(() => setImmediate(judge), ms);
  let stopped = false;
  function stop(): void {
    stopped = true;
    clearInterval(timer);
  }
  function judge(): void {
    if (stopped) return;
    const isLate = counted < bytes;
    counted = 0;
    if (!isLate) return;
    stop();
    late();
  }
  return {
    count(more) {
      counted += more;
    },
    stop,
  };
}
