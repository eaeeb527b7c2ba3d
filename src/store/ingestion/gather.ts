// Gathers concurrent look-ups into one query: what arrives while a query is under way shares the next one.
import { setTimeout as sleep } from "node:timers/promises";

/** How long a look-up that keeps what it found may answer without asking again, in ms. */
const keptMs = 100;

/**
 * Resolves once no process still answers with what was there before: to be awaited between the commit that takes
 * something away and the reply that says so. That is what makes a revocation hold on every node from the moment
 * it is answered (G3), without a query of its own for every request.
 */
export function forgotten(): Promise<void> {
  return sleep(keptMs + 5);
}

type Options<Value> = {
  roundsMax?: number;
  keysMax?: number;
  /** Whether a value may be answered for `keptMs` more, counted from before its query was sent. Default: none. */
  keep?: (value: Value) => boolean;
};

/**
 * Returns `find(key)`. `load` gets the distinct keys of one round and answers with those it found. A look-up never
 * joins a query that began before it, so what it reads is not older than its own question, or than `keptMs` where
 * values are kept. That a key is not found is never kept.
 */
export function gather<Value>(
  load: (keys: string[]) => Promise<Map<string, Value>>,
  { roundsMax = 2, keysMax = 256, keep = () => false }: Options<Value> = {},
): (key: string) => Promise<Value | undefined> {
  type Waiting = {
    key: string;
    resolve: (value: Value | undefined) => void;
    reject: (error: unknown) => void;
  };
  let waiting: Waiting[] = [];
  let rounds = 0;
  const kept = new Map<string, { value: Value; until: number }>();

  async function round(): Promise<void> {
    rounds++;
    while (waiting.length > 0) {
      const asked = waiting.slice(0, keysMax);
      waiting = waiting.slice(keysMax);
      try {
        const until = performance.now() + keptMs;
        const found = await load([...new Set(asked.map(({ key }) => key))]);
        forget();
        for (const [key, value] of found) if (keep(value)) kept.set(key, { value, until });
        for (const { key, resolve } of asked) resolve(found.get(key));
      } catch (error) {
        for (const { reject } of asked) reject(error);
      }
    }
    rounds--;
  }

  /** Entries are in the order in which they end, but for rounds that overtook each other. */
  function forget(): void {
    const now = performance.now();
    for (const [key, { until }] of kept) {
      if (until > now) break;
      kept.delete(key);
    }
  }

  return key => {
    const known = kept.get(key);
    if (known && known.until > performance.now()) return Promise.resolve(known.value);
    return new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      // Begun after this turn of the event loop, so that requests read in the same turn travel together.
      if (rounds < roundsMax && waiting.length === 1) setImmediate(() => void (waiting.length && round()));
    });
  };
}
