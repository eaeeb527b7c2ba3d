// Semaphore with FIFO order and abort.

export type Slots = {
  /** How many wait for one. */
  readonly queued: number;
  /** Resolves to what gives the slot back; to undefined where `asker` gave up first. */
  take(asker: AbortSignal | undefined): Promise<(() => void) | undefined>;
};

export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;
  const release = () => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  return {
    get queued() {
      return waiting.length;
    },
    async take(asker) {
      if (asker?.aborted) return undefined;
      if (free > 0) {
        free -= 1;
        return release;
      }
      const turn = Promise.withResolvers<boolean>();
      const called = () => turn.resolve(true);
      const gone = () => {
        waiting.splice(waiting.indexOf(called), 1);
        turn.resolve(false);
      };
      waiting.push(called);
      asker?.addEventListener("abort", gone, { once: true });
      const had = await turn.promise;
      asker?.removeEventListener("abort", gone);
      return had ? release : undefined;
    },
  };
}
