// Opens what both requests and background work use: events, the ingestion log, email and outbound calls.
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { countDropped } from "../http/ingestion/public-logs.ts";
import { type DropReason, refusalsOf } from "../model/ingestion.ts";
import { type Mailer, openMailer } from "../remote/mail/mailer.ts";
import { type Outbound, openOutbound } from "../remote/outbound.ts";
import type { Addresses, Database } from "../store/db.ts";
import { EventPublisher } from "../store/events.ts";
import { IngestionLog } from "../store/ingestion/log.ts";
import type { Vault } from "../store/secrets/vault.ts";
import type { MergeLimits } from "../store/traces/append.ts";
import type { JoinedTrace } from "../store/traces/join-records.ts";
import type { SentRecords } from "../store/traces/waiting-records.ts";

/** What a process of the service opened first. */
export type Opened = {
  db: Database;
  addresses: Addresses;
  vault: Vault;
  log: Logger;
  /** Closed in reverse order, each once. */
  closing: (() => Promise<unknown>)[];
};

export type Parts = {
  events: EventPublisher;
  ingestionLog: IngestionLog;
  mailer: Mailer;
  outbound: Outbound;
  mergeLimits: MergeLimits;
  onJoined: (trace: JoinedTrace) => void;
  /** Counts log records that were dropped after their request was answered. */
  onDropped: (reason: DropReason, records: SentRecords[]) => void;
};

export function openParts(config: Config, { db, log, closing }: Opened): Parts {
  const events = new EventPublisher(db);
  closing.push(() => events.close());
  const ingestionLog = new IngestionLog(db, log, counts => {
    for (const count of counts) {
      const { projectId, serviceName, keyId } = count;
      for (const code of refusalsOf(count)) {
        events.publish({ type: "ingestion", agentId: null, projectId, code, serviceName, keyId });
      }
    }
  });
  closing.push(() => ingestionLog.close());
  const mailer = openMailer({
    smtpUrl: config.smtpUrl ?? null,
    from: config.mailFrom,
    outboxDir: `${config.dataDir}/outbox`,
    log,
  });
  closing.push(async () => mailer.close());
  const outbound = openOutbound({ allow: config.allowPrivateTargets });
  closing.push(() => outbound.close());
  return {
    events,
    ingestionLog,
    mailer,
    outbound,
    mergeLimits: { ...config, ...config.bounds },
    onJoined: ({ agentId, traceId }) => events.publish({ type: "trace", agentId, traceId, change: "merged" }),
    onDropped(reason, records) {
      for (const { agentId, projectId, keyId, serviceName, records: count } of records) {
        const dropped = { [reason]: count };
        ingestionLog.recordDropped({ agentId, projectId, keyId, serviceName, dropped });
        countDropped(dropped);
      }
    },
  };
}
