// Lengths of time in words: "12 ms", "1.24 s", "2 min 3 s".

export function durationText(ms: number): string {
  if (ms === 0) return "0 ms";
  if (ms < 1) return `${Number(ms.toPrecision(2))} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}
