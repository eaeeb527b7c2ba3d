// Aborts uploads slower than a minimum rate.

/** At least `bytes` in every `ms`. */
export type MinRate = { bytes: number; ms: number };

/** 20 KB/s: slower than any connection in practical use. */
export const defaultMinRate: MinRate = { bytes: 100_000, ms: 5_000 };

/** Calls `onSlow` once when an interval had fewer bytes than required. */
export function enforceMinRate(
  { bytes, ms }: MinRate,
  onSlow: () => void,
): { count(bytes: number): void; stop(): void } {
  let counted = 0;
  // setImmediate: bytes that arrived while the thread was busy are counted first.
  const timer = setInterval(() => setImmediate(check), ms);
  let stopped = false;
  function stop(): void {
    stopped = true;
    clearInterval(timer);
  }
  function check(): void {
    if (stopped) return;
    const isSlow = counted < bytes;
    counted = 0;
    if (!isSlow) return;
    stop();
    onSlow();
  }
  return {
    count(more) {
      counted += more;
    },
    stop,
  };
}
