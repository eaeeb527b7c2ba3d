// Gathers concurrent look-ups into one query: what arrives while a query is under way shares the next one.

/**
 * Returns `find(key)`. `load` gets the distinct keys of one round and answers with those it found. A look-up never
 * joins a query that began before it: what it reads is not older than its own question, which is what lets a
 * revoked key stop working at once without a query of its own for every request.
 */
export function gather<Value>(
  load: (keys: string[]) => Promise<Map<string, Value>>,
  { roundsMax = 2, keysMax = 256 } = {},
): (key: string) => Promise<Value | undefined> {
  type Waiting = {
    key: string;
    resolve: (value: Value | undefined) => void;
    reject: (error: unknown) => void;
  };
  let waiting: Waiting[] = [];
  let rounds = 0;

  async function round(): Promise<void> {
    rounds++;
    while (waiting.length > 0) {
      const asked = waiting.slice(0, keysMax);
      waiting = waiting.slice(keysMax);
      try {
        const found = await load([...new Set(asked.map(({ key }) => key))]);
        for (const { key, resolve } of asked) resolve(found.get(key));
      } catch (error) {
        for (const { reject } of asked) reject(error);
      }
    }
    rounds--;
  }

  return key =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      // Begun after this turn of the event loop, so that requests read in the same turn travel together.
      if (rounds < roundsMax && waiting.length === 1) setImmediate(() => void (waiting.length && round()));
    });
}
