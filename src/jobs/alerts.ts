// Sends alerts: closes the digests that are due, and delivers their messages by email and webhook until they arrive.
import type { Logger } from "pino";
import { logFault } from "../claiming.ts";
import { type AlertMessage, type DeliveryState, retryDelaysS } from "../model/alert/alert.ts";
import { changedMessage } from "../model/alert/message.ts";
import { alertMail } from "../remote/mail/alert-mail.ts";
import type { Mailer } from "../remote/mail/mailer.ts";
import type { Outbound } from "../remote/outbound.ts";
import { postWebhook, type WebhookAnswer } from "../remote/webhook.ts";
import { listAgentsOf } from "../store/accounts/ownership.ts";
import { claimDeliveries, type DueDelivery, nextAlertMs, recordAttempt } from "../store/alerts/deliveries.ts";
import { closeDigest } from "../store/alerts/digests.ts";
import { alertToken } from "../store/alerts/opt-outs.ts";
import { findWebhook } from "../store/alerts/webhooks.ts";
import type { Database } from "../store/db.ts";
import { unreadableSecret, type Vault } from "../store/secrets/vault.ts";
import type { Job } from "./job.ts";

export type AlertDeps = {
  db: Database;
  vault: Vault;
  outbound: Pick<Outbound, "fetch">;
  /** Null without a mail server: then alerts are neither sent nor written to the outbox. */
  mailer: Pick<Mailer, "send"> | null;
  /** Read per message: the URL is known once the port is. */
  config: { readonly baseUrl: string };
  log: Logger;
};

// At a time: a receiver that does not answer holds its place for 15 s. Of the places that the others have left free, an account
// may hold a quarter.
const deliveriesMax = 16;
const accountShare = 0.25;
const everyMs = 5_000;
const fullPauseMs = 1_000;

export function alerts(deps: AlertDeps): Job {
  const { db, log } = deps;
  const ending = new AbortController();
  /** The attempts under way, by account. */
  const open = new Map<Promise<void>, string>();

  const fullAccounts = () => {
    const free = deliveriesMax - open.size;
    return [...Map.groupBy(open.values(), accountId => accountId)].flatMap(([accountId, held]) =>
      held.length + 1 > accountShare * (free + held.length) ? [accountId] : [],
    );
  };

  const begin = (delivery: DueDelivery, wake: () => void) => {
    const attempt = attemptOnce(deps, delivery, ending.signal)
      .catch(error => logFault(log, error, "the end of an alert cannot be recorded"))
      .finally(() => {
        open.delete(attempt);
        // There is room for another.
        wake();
      });
    open.set(attempt, delivery.accountId);
  };

  return {
    name: "alerts",
    fault: "alerts cannot be sent",
    everyMs,
    async step(signal, wake) {
      while (!signal.aborted && (await closeNextDigest(deps)));
      while (!signal.aborted && open.size < deliveriesMax) {
        const full = await listAgentsOf(db, fullAccounts());
        // One at a time: each changes who has a share left.
        const [due] = await claimDeliveries(db, 1, full);
        if (due) begin(due, wake);
        // What else is due may be of others.
        else if (full.length > 0) return fullPauseMs;
        else return Math.max(1, Math.min((await nextAlertMs(db)) ?? everyMs, everyMs));
      }
      return false;
    },
    /** Cancels open attempts, which are retried later. */
    end() {
      ending.abort();
      return Promise.all(open.keys());
    },
  };
}

function closeNextDigest({ db, mailer, config }: AlertDeps): Promise<boolean> {
  return closeDigest(db, {
    email: mailer !== null,
    bodyOf: digest => JSON.stringify(changedMessage(config.baseUrl, digest, new Date())),
  });
}

async function attemptOnce(deps: AlertDeps, delivery: DueDelivery, ending: AbortSignal): Promise<void> {
  const { channel, kind, attempts } = delivery;
  const answer = await (channel === "webhook" ? post(deps, delivery, ending) : mail(deps, delivery));
  // What was broken off may have arrived. It is repeated, after the pause that the claim has set.
  if (ending.aborted && answer.error !== null) return;
  const isLast = kind === "test" || attempts > retryDelaysS.length || answer.status === 410;
  const state: DeliveryState = answer.error === null ? "delivered" : isLast ? "failed" : "pending";
  await recordAttempt(deps.db, delivery, { state, ...answer });
}

async function post(
  { db, vault, outbound }: AlertDeps,
  { id, agentId, body }: DueDelivery,
  ending: AbortSignal,
): Promise<WebhookAnswer> {
  const webhook = await findWebhook(db, vault, agentId);
  if (!webhook) return { status: null, error: "The webhook was deleted." };
  const { url, secret } = webhook;
  if (secret === undefined) return { status: null, error: `The secret ${unreadableSecret}.` };
  return postWebhook(outbound, { url, secret, id, body }, ending);
}

async function mail(
  { db, mailer, config, log }: AlertDeps,
  { id, body, email, accountId, wantsEmail }: DueDelivery,
): Promise<WebhookAnswer> {
  const message = JSON.parse(body) as AlertMessage;
  if (!wantsEmail || message.type === "test") return { status: null, error: null };
  if (!mailer) return { status: null, error: "No mail server is configured." };
  const turnOffUrl = `${config.baseUrl}/alerts/off?token=${await alertToken(db, accountId)}`;
  try {
    await mailer.send(alertMail(message, { to: email, id, turnOffUrl }));
    return { status: null, error: null };
  } catch (error) {
    log.warn({ deliveryId: id, err: error }, "an alert could not be emailed; it will be tried again");
    return { status: null, error: (error as Error).message };
  }
}
