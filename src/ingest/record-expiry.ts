// Drops log records whose span did not arrive, every half minute, and counts them in the ingestion log.
import type { Logger } from "pino";
import type { DropReason } from "../model/ingestion.ts";
import { type Database, isTransient } from "../store/db.ts";
import type { MergeLimits } from "../store/traces/append.ts";
import type { JoinedTrace } from "../store/traces/join-records.ts";
import { expireRecords, recordWaitMs } from "../store/traces/records.ts";
import type { SentRecords } from "../store/traces/waiting-records.ts";

const everyMs = 30_000;

export type ExpiryDeps = {
  db: Database;
  log: Pick<Logger, "error">;
  limits: MergeLimits;
  onJoined: (trace: JoinedTrace) => void;
  onDropped: (reason: DropReason, records: SentRecords[]) => void;
};

export class RecordExpiry {
  readonly #deps: ExpiryDeps;
  readonly #timer: NodeJS.Timeout;
  #working: Promise<void> = Promise.resolve();

  constructor(deps: ExpiryDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => this.expire(), everyMs).unref();
  }

  /** One after the other. Resolves when it is done; never rejects. */
  expire(waitMs = recordWaitMs): Promise<void> {
    this.#working = this.#working
      .then(() => this.#expire(waitMs))
      .catch((error: unknown) => {
        if (!isTransient(error)) this.#deps.log.error({ err: error }, "log records cannot be dropped");
      });
    return this.#working;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#working;
  }

  async #expire(waitMs: number): Promise<void> {
    const { db, limits, onJoined, onDropped } = this.#deps;
    const { joined, refused, expired } = await expireRecords(db, limits, waitMs);
    for (const trace of joined) onJoined(trace);
    onDropped("no_room", refused);
    onDropped("no_span", expired);
  }
}
