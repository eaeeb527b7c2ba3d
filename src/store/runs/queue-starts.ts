// Where claims begin to read the queue of passive runs. Indexes keep the entries of claimed runs until PostgreSQL's next vacuum, and
// a scan from the first entry passes them all.
import type { Database, Session } from "../db.ts";
import { lanes } from "./claim-statements.ts";

/** Times as PostgreSQL writes them: no run that can be claimed is due, waits or has a lease until before these. */
export type Start = { due: string; waiting: string; lease: string };

const never = "-infinity";
export const firstEntry: Start = { due: never, waiting: never, lease: never };

// How long a start holds. A thousand runs a second leave ten thousand entries meanwhile, which take a claim 0.2 ms.
const moveMs = 10_000;
// How long until the queue is read from its first entry again, and runs before the start are found. They come from transactions that took longer than a minute to commit, or from a
// database whose clock was set back.
const wholeEveryMs = 60_000;
/** At most this share of the time is spent on reading whole queues. */
const wholeShare = 0.02;

type Known = { start: Start; movedAt: number; wholeAt: number; wholeMs: number };

/** The starts that one worker has found, for each database of a cluster. */
export class QueueStarts {
  readonly #now: () => number;
  readonly #known = new WeakMap<Session, Known>();

  /** `now`: the ms of a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Where to begin. Reads the queue for that every 10 s: from the last start or, once a minute, from its first entry. */
  async of({ pool }: Pick<Database, "pool">): Promise<Start> {
    const known = this.#known.get(pool);
    const now = this.#now();
    if (known && now - known.movedAt < moveMs) return known.start;
    if (known && now - known.wholeAt < Math.max(wholeEveryMs, known.wholeMs / wholeShare)) {
      const start = await find(pool, known.start);
      this.#known.set(pool, { ...known, start, movedAt: now });
      return start;
    }
    const start = await find(pool, firstEntry).catch(error => {
      // It may take longer than a statement may.
      if (known) return find(pool, known.start);
      throw error;
    });
    this.#known.set(pool, { start, movedAt: now, wholeAt: now, wholeMs: this.#now() - now });
    return start;
  }
}

/** A minute ago at most, for what is being committed by transactions that have begun before. */
async function find(pool: Session, from: Start): Promise<Start> {
  const first = (lane: string, parameter: string) =>
    `least((select min(next_at) from queue where lane = '${lane}' and next_at >= ${parameter}::timestamptz),
      now() - interval '1 minute')::text`;
  const { rows } = await pool.query<Start>({
    name: "queue_starts",
    text: `select ${first(lanes.due, "$1")} as due, ${first(lanes.waiting, "$2")} as waiting,
      ${first(lanes.leased, "$3")} as lease`,
    values: [from.due, from.waiting, from.lease],
  });
  return rows[0]!;
}
