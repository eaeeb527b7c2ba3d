// Sends alerts: closes the digests that are due, and delivers their messages by email and webhook until they arrive.
import type { Logger } from "pino";
import { ClaimLoop, logFault } from "./claiming.ts";
import { type AlertMessage, type DeliveryState, retryDelaysS } from "./model/alert/alert.ts";
import { changedMessage } from "./model/alert/message.ts";
import { alertMail } from "./remote/mail/alert-mail.ts";
import type { Mailer } from "./remote/mail/mailer.ts";
import type { Outbound } from "./remote/outbound.ts";
import { postWebhook, type WebhookAnswer } from "./remote/webhook.ts";
import { listAgentsOf } from "./store/accounts/ownership.ts";
import {
  claimDeliveries,
  type DueDelivery,
  deleteOldDeliveries,
  nextAlertMs,
  recordAttempt,
} from "./store/alerts/deliveries.ts";
import { closeDigest } from "./store/alerts/digests.ts";
import { alertToken } from "./store/alerts/opt-outs.ts";
import { findWebhook } from "./store/alerts/webhooks.ts";
import type { Database } from "./store/db.ts";
import { unreadableSecret, type Vault } from "./store/secrets/vault.ts";

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
const idleMaxMs = 5_000;
const fullPauseMs = 1_000;
const cleanUpMs = 3_600_000;

export class AlertSender {
  readonly #deps: AlertDeps;
  readonly #abort = new AbortController();
  readonly #loop: ClaimLoop;
  /** The attempts under way, by account. */
  readonly #open = new Map<Promise<void>, string>();
  #cleanUpAt = 0;

  constructor(deps: AlertDeps) {
    this.#deps = deps;
    this.#loop = new ClaimLoop({
      claim: () => this.#work(),
      onFault: error => logFault(deps.log, error, "alerts cannot be sent"),
    });
  }

  /** Call it when a delivery is due. */
  wake(): void {
    this.#loop.wake();
  }

  /** Breaks off open attempts, which are repeated later. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#loop.stop();
    await Promise.all(this.#open.keys());
  }

  async #work(): Promise<number> {
    const { db } = this.#deps;
    if (performance.now() >= this.#cleanUpAt) {
      await deleteOldDeliveries(db);
      this.#cleanUpAt = performance.now() + cleanUpMs;
    }
    while (!this.#abort.signal.aborted && (await this.#closeDigest()));
    while (!this.#abort.signal.aborted && this.#open.size < deliveriesMax) {
      const full = await listAgentsOf(db, this.#fullAccounts());
      // One at a time: each changes who has a share left.
      const [due] = await claimDeliveries(db, 1, full);
      if (due) this.#begin(due);
      // The end of an attempt wakes the loop; what else is due may be of others.
      else if (full.length > 0) return fullPauseMs;
      else return Math.max(1, Math.min((await nextAlertMs(db)) ?? idleMaxMs, idleMaxMs));
    }
    return idleMaxMs;
  }

  #fullAccounts(): string[] {
    const free = deliveriesMax - this.#open.size;
    return [...Map.groupBy(this.#open.values(), accountId => accountId)].flatMap(([accountId, held]) =>
      held.length + 1 > accountShare * (free + held.length) ? [accountId] : [],
    );
  }

  #begin(delivery: DueDelivery): void {
    const attempt = this.#attempt(delivery)
      .catch(error => logFault(this.#deps.log, error, "the end of an alert cannot be recorded"))
      .finally(() => {
        this.#open.delete(attempt);
        this.wake();
      });
    this.#open.set(attempt, delivery.accountId);
  }

  #closeDigest(): Promise<boolean> {
    const { db, mailer, config } = this.#deps;
    return closeDigest(db, {
      email: mailer !== null,
      bodyOf: digest => JSON.stringify(changedMessage(config.baseUrl, digest, new Date())),
    });
  }

  async #attempt(delivery: DueDelivery): Promise<void> {
    const { channel, kind, attempts } = delivery;
    const answer = await (channel === "webhook" ? this.#post(delivery) : this.#mail(delivery));
    // What was broken off may have arrived. It is repeated, after the pause that the claim has set.
    if (this.#abort.signal.aborted && answer.error !== null) return;
    const isLast = kind === "test" || attempts > retryDelaysS.length || answer.status === 410;
    const state: DeliveryState = answer.error === null ? "delivered" : isLast ? "failed" : "pending";
    await recordAttempt(this.#deps.db, delivery, { state, ...answer });
  }

  async #post({ id, agentId, body }: DueDelivery): Promise<WebhookAnswer> {
    const { db, vault, outbound } = this.#deps;
    const webhook = await findWebhook(db, vault, agentId);
    if (!webhook) return { status: null, error: "The webhook was deleted." };
    const { url, secret } = webhook;
    if (secret === undefined) return { status: null, error: `The secret ${unreadableSecret}.` };
    return postWebhook(outbound, { url, secret, id, body }, this.#abort.signal);
  }

  async #mail({ id, body, email, accountId, wantsEmail }: DueDelivery): Promise<WebhookAnswer> {
    const { db, mailer, config, log } = this.#deps;
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
}
