// Where claims begin to read the queue of passive runs. Indexes keep the entries of claimed runs until PostgreSQL's next vacuum, and
// whoever reads from the first entry passes them all.
import type pg from "pg";
import type { Database } from "../db.ts";

/** Times as PostgreSQL writes them: no run that can be claimed is due, waits or has a lease until before these. */
export type Start = { due: string; waiting: string; lease: string };

const never = "-infinity";
export const firstEntry: Start = { due: never, waiting: never, lease: never };

export type QueueStartsOptions = {
  /** How long a start holds before it is moved on. */
  moveMs?: number;
  /** How long before the queue is read from its first entry again. */
  wholeMs?: number;
};

// A thousand runs a second leave ten thousand entries meanwhile, which take a claim 0.2 ms.
const defaultMoveMs = 10_000;
// Runs before the start are found after this time. They come from transactions that took longer than a minute to commit, or from a
// database whose clock was set back.
const defaultWholeMs = 60_000;
/** At most this share of the time is spent on reading whole queues. */
const wholeShare = 0.02;

type Known = { start: Start; movedAt: number; wholeAt: number; wholeMs: number };

/** The starts that one worker has found, for each database of a cluster. */
export class QueueStarts {
  readonly #moveMs: number;
  readonly #wholeMs: number;
  readonly #known = new WeakMap<pg.Pool, Known>();

  constructor({ moveMs = defaultMoveMs, wholeMs = defaultWholeMs }: QueueStartsOptions = {}) {
    this.#moveMs = moveMs;
    this.#wholeMs = wholeMs;
  }

  /** Where to begin. Reads the queue for that once per `moveMs`: from the last start or, once per `wholeMs`, from its first entry. */
  async of({ pool }: Pick<Database, "pool">): Promise<Start> {
    const known = this.#known.get(pool);
    const now = performance.now();
    if (known && now - known.movedAt < this.#moveMs) return known.start;
    const isWhole = !known || now - known.wholeAt >= Math.max(this.#wholeMs, known.wholeMs / wholeShare);
    let start: Start | undefined;
    if (isWhole) {
      // It may take longer than a statement may; then the last start does.
      start = await find(pool, firstEntry).catch(error => {
        if (!known) throw error;
        return undefined;
      });
    }
    const whole = isWhole ? { wholeAt: now, wholeMs: performance.now() - now } : known;
    start ??= await find(pool, known!.start);
    this.#known.set(pool, { start, movedAt: now, wholeAt: whole.wholeAt, wholeMs: whole.wholeMs });
    return start;
  }
}

/** A minute ago at most, for what is being committed by transactions that have begun before. */
async function find(pool: pg.Pool, from: Start): Promise<Start> {
  const first = (at: string, where: string, parameter: string) =>
    `least((select min(${at}) from runs where kind <> 'manual' and ${where} and ${at} >= ${parameter}::timestamptz),
      now() - interval '1 minute')::text`;
  const { rows } = await pool.query<Start>({
    name: "queue_starts",
    text: `select ${first("due_at", "state = 'pending'", "$1")} as due,
      ${first("next_try_at", "next_try_at is not null", "$2")} as waiting,
      ${first("lease_until", "true", "$3")} as lease`,
    values: [from.due, from.waiting, from.lease],
  });
  return rows[0]!;
}
