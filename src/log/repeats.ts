// Which lines of the log repeat one of the last minute, such as during an outage of the database.

const everyMs = 60_000;
const kindsMax = 1_000;

/** `more`: how many were left out since. */
type Kind = { nextAt: number; more: number };

const logged = new WeakMap<object, Map<string, Kind>>();

/**
 * How many lines of this kind were left out since the last one; undefined if this one is to be left out, too, because that was less than a
 * minute ago. `owner`: whose lines are counted together, such as those of a server.
 */
export function leftOutBefore(owner: object, kind: string): number | undefined {
  const kinds = logged.get(owner) ?? new Map<string, Kind>();
  logged.set(owner, kinds);
  const now = performance.now();
  const last = kinds.get(kind);
  if (last && now < last.nextAt) {
    last.more += 1;
    return undefined;
  }
  if (kinds.size >= kindsMax) kinds.clear();
  kinds.set(kind, { nextAt: now + everyMs, more: 0 });
  return last?.more ?? 0;
}
