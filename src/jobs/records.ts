// Drops log records whose span did not arrive, and counts them in the ingestion log.
import type { DropReason } from "../model/ingestion.ts";
import type { Database } from "../store/db.ts";
import type { MergeLimits } from "../store/traces/append.ts";
import type { JoinedTrace } from "../store/traces/join-records.ts";
import { expireRecords, recordWaitMs } from "../store/traces/records.ts";
import type { SentRecords } from "../store/traces/waiting-records.ts";
import type { Job } from "./job.ts";

export type RecordsDeps = {
  db: Database;
  limits: MergeLimits;
  onJoined: (trace: JoinedTrace) => void;
  onDropped: (reason: DropReason, records: SentRecords[]) => void;
};

export function records({ db, limits, onJoined, onDropped }: RecordsDeps, waitMs = recordWaitMs): Job {
  return {
    name: "records",
    fault: "log records cannot be dropped",
    everyMs: 30_000,
    alone: true,
    async step() {
      const { joined, refused, expired } = await expireRecords(db, limits, waitMs);
      for (const trace of joined) onJoined(trace);
      onDropped("no_room", refused);
      onDropped("no_span", expired);
      return false;
    },
  };
}
