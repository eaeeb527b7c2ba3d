// Starts what a machine does once beside its requests: alerts, erasures, deleting old traces, forgetting content,
// dropping log records without a span, and ranges of batches.
import { AlertSender } from "../alerts.ts";
import type { Config } from "../config.ts";
import type { ErasureWork } from "../eraser/steps.ts";
import { Eraser } from "../eraser.ts";
import { Forgetter, type ForgetterDeps } from "../forgetter.ts";
import { metrics } from "../http/health.ts";
import { RecordExpiry } from "../ingest/record-expiry.ts";
import { RangeKeeper } from "../range-keeper.ts";
import { Retention } from "../retention.ts";
import type { Opened, Parts } from "./parts.ts";

/** What looks for new work at once when it is called. */
export type Background = { alerts(): void; eraser(): void; retention(): void };

/** `config` is read again for each alert: its base URL is known once the port is. */
export function startBackground(
  config: Config,
  { db, addresses, vault, log, closing }: Opened,
  { events, mailer, outbound, mergeLimits, onJoined, onDropped }: Parts,
  work: ErasureWork & Pick<ForgetterDeps, "forget">,
): Background {
  const expiry = new RecordExpiry({
    ...{ db, log, onJoined, onDropped },
    limits: mergeLimits,
  });
  closing.push(() => expiry.close());
  const alerts = new AlertSender({
    ...{ db, vault, outbound, config, log },
    mailer: config.smtpUrl === undefined ? null : mailer,
  });
  closing.push(() => alerts.stop());
  const eraser = new Eraser({ db, vault, work, log });
  closing.push(() => eraser.stop());
  const retention = new Retention({
    ...{ db, log, serverDays: config.retentionDays ?? null },
    onDeleted: traces => metrics.tracesExpired.inc(traces),
  });
  closing.push(() => retention.stop());
  const rangeKeeper = new RangeKeeper({
    ...{ db, log, directUrl: addresses.directUrl, serverDays: config.retentionDays ?? null },
  });
  closing.push(() => rangeKeeper.stop());
  const forgetter = new Forgetter({
    ...{ db, vault, log },
    forget: work.forget,
    onForgotten: trace => events.publish({ type: "trace", ...trace, change: "forgotten" }),
  });
  closing.push(() => forgetter.stop());
  return {
    alerts: () => alerts.wake(),
    eraser: () => eraser.wake(),
    retention: () => retention.wake(),
  };
}
