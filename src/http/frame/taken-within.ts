// Cuts off clients that read an answer too slowly: they would keep its place and what it holds in memory.

const chunkBytes = 64 * 1024;

/** Yields the parts in chunks of at most 64 KB, and calls `onSlow` if one is not taken within `ms` milliseconds. */
export async function* takenWithin(
  ms: number,
  parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  onSlow: () => void,
): AsyncGenerator<Uint8Array> {
  for await (const part of parts) {
    for (let at = 0; at < part.length; at += chunkBytes) {
      const timer = setTimeout(onSlow, ms);
      try {
        yield part.subarray(at, at + chunkBytes);
      } finally {
        clearTimeout(timer);
      }
    }
  }
}
