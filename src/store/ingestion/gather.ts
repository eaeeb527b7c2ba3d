// Batches concurrent lookups into one query: those that arrive while a query runs share the next one.
import { setTimeout as sleep } from "node:timers/promises";

/** How long a found value may be cached, in ms. */
const cacheMs = 100;

/**
 * Resolves once every process's cache has expired: awaited between a commit that removes something and its reply. So a
 * revocation holds on every node from the moment it is answered, without a query for every request.
 */
export function cachesExpired(): Promise<void> {
  return sleep(cacheMs + 5);
}

type Options<Value> = {
  roundsMax?: number;
  keysMax?: number;
  /** Whether a value may be cached, for `cacheMs` from the moment before its query was sent. Default: none. */
  keep?: (value: Value) => boolean;
};

/**
 * Returns `find(key)`. `load` gets the distinct keys of one round and returns those it found. A lookup never joins a
 * query that began before it, so a value is never older than the lookup, or than `cacheMs` if values are cached.
 * Missing keys are never cached.
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
  const cached = new Map<string, { value: Value; until: number }>();

  async function round(): Promise<void> {
    rounds++;
    while (waiting.length > 0) {
      const asked = waiting.slice(0, keysMax);
      waiting = waiting.slice(keysMax);
      try {
        const until = performance.now() + cacheMs;
        const found = await load([...new Set(asked.map(({ key }) => key))]);
        expire();
        for (const [key, value] of found) if (keep(value)) cached.set(key, { value, until });
        for (const { key, resolve } of asked) resolve(found.get(key));
      } catch (error) {
        for (const { reject } of asked) reject(error);
      }
    }
    rounds--;
  }

  /** Entries are in the order of their expiry, except for rounds that overtook each other. */
  function expire(): void {
    const now = performance.now();
    for (const [key, { until }] of cached) {
      if (until > now) break;
      cached.delete(key);
    }
  }

  return key => {
    const known = cached.get(key);
    if (known && known.until > performance.now()) return Promise.resolve(known.value);
    return new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      // After this turn of the event loop, so that requests read in the same turn share a query.
      if (rounds < roundsMax && waiting.length === 1) setImmediate(() => void (waiting.length && round()));
    });
  };
}
