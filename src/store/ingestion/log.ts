// Counts results of ingestion requests: in memory, written every two seconds, off the path of requests.
import type { Logger } from "pino";
import type { IngestionAnswer } from "../../model/ingestion.ts";
import type { AdmittedKey } from "../../model/key.ts";
import { type Database, isTransient } from "../db.ts";
import { addIngestion, type IngestionCount } from "./minutes.ts";

const writeAfterMs = 2_000;
// A rejection is waited for: Get started shows it once it is written.
const writeRejectionAfterMs = 250;
const minuteMs = 60_000;
// Service names are the sender's choice: this many a minute are counted separately per project, and in total; requests
// with further names are counted without a name.
const namesOfProjectMax = 100;
const namesMax = 10_000;
// Counts that wait while the database is unavailable: some 4 MB. Beyond that, new combinations are not counted.
const countsMax = 10_000;

export class IngestionLog {
  readonly #db: Database;
  readonly #log: Pick<Logger, "error">;
  #counts = new Map<string, IngestionCount>();
  #names = new Map<string, Set<string>>();
  #nameCount = 0;
  #namesUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #writesAt = 0;
  #working: Promise<void> = Promise.resolve();

  readonly #onWritten: (counts: IngestionCount[]) => void;

  /** `onWritten`: what was just written. */
  constructor(
    db: Database,
    log: Pick<Logger, "error">,
    onWritten: (counts: IngestionCount[]) => void = () => {},
  ) {
    this.#db = db;
    this.#log = log;
    this.#onWritten = onWritten;
  }

  record(answers: IngestionAnswer[], { id: keyId, projectId }: Pick<AdmittedKey, "id" | "projectId">): void {
    const rejectedAt = performance.now();
    for (const { serviceName, ...answer } of answers) {
      const name = serviceName === null ? null : this.#admitName(projectId, serviceName);
      this.#add({ ...answer, projectId, keyId, serviceName: name, requests: 1, rejectedAt });
    }
    this.#writeAfter(answers.some(({ rejection }) => rejection) ? writeRejectionAfterMs : writeAfterMs);
  }

  /** Counts log records that were dropped after their request was answered. */
  recordDropped({
    keyId,
    serviceName,
    ...dropped
  }: Pick<IngestionCount, "projectId" | "keyId" | "agentId" | "serviceName" | "dropped">): void {
    const name = serviceName === null ? null : this.#admitName(dropped.projectId, serviceName);
    const nothing = { requests: 0, spans: 0, reasons: {}, rejection: null, rejectedAt: 0 };
    this.#add({ code: "OK", ...dropped, ...nothing, keyId, serviceName: name });
    this.#writeAfter(writeAfterMs);
  }

  /** Writes the remaining counts. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#write();
    await this.#working;
    clearTimeout(this.#timer);
  }

  #add(count: IngestionCount): void {
    const { projectId, keyId, code, agentId, serviceName } = count;
    const identity = `${projectId} ${keyId} ${code} ${agentId} ${serviceName === null ? "" : `=${serviceName}`}`;
    const known = this.#counts.get(identity);
    if (!known) {
      if (this.#counts.size < countsMax)
        this.#counts.set(identity, {
          ...count,
          reasons: { ...count.reasons },
          dropped: { ...count.dropped },
        });
      return;
    }
    known.requests += count.requests;
    known.spans += count.spans;
    known.records = (known.records ?? 0) + (count.records ?? 0);
    known.dropped ??= {};
    addCounts(known.dropped, count.dropped ?? {});
    if (count.rejection && (!known.rejection || count.rejectedAt >= known.rejectedAt)) {
      known.rejection = count.rejection;
      known.rejectedAt = count.rejectedAt;
    }
    addCounts(known.reasons, count.reasons);
  }

  #admitName(projectId: string, name: string): string | null {
    const now = performance.now();
    if (now >= this.#namesUntil) {
      this.#names = new Map();
      this.#nameCount = 0;
      this.#namesUntil = now + minuteMs;
    }
    const names = this.#names.get(projectId) ?? new Set();
    if (names.has(name)) return name;
    if (this.#nameCount >= namesMax || names.size >= namesOfProjectMax) return null;
    this.#names.set(projectId, names.add(name));
    this.#nameCount++;
    return name;
  }

  /** Writes after this time at the latest. */
  #writeAfter(ms: number): void {
    const at = performance.now() + ms;
    if (this.#timer && this.#writesAt <= at) return;
    clearTimeout(this.#timer);
    this.#writesAt = at;
    this.#timer = setTimeout(() => this.#write(), ms);
  }

  #write(): void {
    this.#timer = undefined;
    this.#then(async () => {
      const counts = this.#counts;
      if (counts.size === 0) return;
      this.#counts = new Map();
      try {
        await addIngestion(this.#db, [...counts.values()]);
        this.#onWritten([...counts.values()]);
      } catch (error) {
        if (!isTransient(error)) throw error;
        // The database is unavailable: written with the next counts.
        for (const count of counts.values()) this.#add(count);
        this.#writeAfter(writeAfterMs);
      }
    });
  }

  /** One after the other, so that a slow database gets one statement at a time. */
  #then(work: () => Promise<void>): void {
    this.#working = this.#working.then(work).catch((error: unknown) => {
      if (!isTransient(error)) this.#log.error({ err: error }, "the ingestion log cannot be written");
    });
  }
}

function addCounts<Name extends string>(
  sum: Partial<Record<Name, number>>,
  counts: Partial<Record<Name, number>>,
): void {
  for (const [name, count] of Object.entries(counts) as [Name, number][]) {
    sum[name] = (sum[name] ?? 0) + count;
  }
}
