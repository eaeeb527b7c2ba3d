// How much the accounts send in a day: counted for all processes together, once a second, so that no request waits for it.
import { Refusal } from "../../model/refusal.ts";
import { countBytes, type Today } from "../../store/accounts/use.ts";
import type { Database } from "../../store/db.ts";

const writeAfterMs = 1_000;

export class DailyBytes {
  readonly #db: Database;
  readonly #max: number;
  #waiting = new Map<string, number>();
  #known = new Map<string, { used: number; until: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database, max: number) {
    this.#db = db;
    this.#max = max;
  }

  /** Throws DAILY_LIMIT_REACHED. What arrives within a second, in several processes, may exceed the limit. */
  require(accountId: string): void {
    const known = this.#known.get(accountId);
    const used = known && known.until > performance.now() ? known.used : 0;
    if (used + (this.#waiting.get(accountId) ?? 0) < this.#max) return;
    throw new Refusal("DAILY_LIMIT_REACHED", {
      hint: "Sending is possible again at 00:00 UTC. The operator can raise SVC_ACCOUNT_BYTES_PER_DAY.",
    });
  }

  add(accountId: string, bytes: number): void {
    this.#waiting.set(accountId, (this.#waiting.get(accountId) ?? 0) + bytes);
    this.#timer ??= setTimeout(() => void this.write(), writeAfterMs).unref();
  }

  /** Bytes that cannot be written now are counted with the next ones: storing them needs the same database. */
  async write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = new Map();
    const sums = await countBytes(this.#db, waiting).catch(() => undefined);
    if (sums) this.#keep(sums);
    else for (const [accountId, bytes] of waiting) this.add(accountId, bytes);
  }

  #keep(sums: Map<string, Today>): void {
    const now = performance.now();
    for (const [accountId, { until }] of this.#known) if (until <= now) this.#known.delete(accountId);
    for (const [accountId, { used, endsInMs }] of sums) {
      this.#known.set(accountId, { used, until: now + endsInMs });
    }
  }
}
