// Sends alerts: closes the digests that are due, and delivers their messages by email and webhook until they arrive.
import type { Logger } from "pino";
import { ClaimLoop, logFault } from "./claiming.ts";
import { type AlertMessage, type DeliveryState, retryDelaysS } from "./model/alert/alert.ts";
import { changedMessage } from "./model/alert/message.ts";
import { alertMail } from "./remote/mail/alert-mail.ts";
import type { Mailer } from "./remote/mail/mailer.ts";
import type { Outbound } from "./remote/outbound.ts";
import { postWebhook, type WebhookAnswer } from "./remote/webhook.ts";
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

// At a time: a receiver that does not answer holds its place for 15 s.
const deliveriesMax = 16;
const idleMaxMs = 5_000;
const cleanUpMs = 3_600_000;

export class AlertSender {
  readonly #deps: AlertDeps;
  readonly #abort = new AbortController();
  readonly #loop: ClaimLoop;
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
  }

  async #work(): Promise<number> {
    const { db } = this.#deps;
    if (performance.now() >= this.#cleanUpAt) {
      await deleteOldDeliveries(db);
      this.#cleanUpAt = performance.now() + cleanUpMs;
    }
    while (!this.#abort.signal.aborted && (await this.#closeDigest()));
    const due = this.#abort.signal.aborted ? [] : await claimDeliveries(db, deliveriesMax);
    await Promise.all(due.map(delivery => this.#attempt(delivery)));
    if (due.length === deliveriesMax) return 0;
    return Math.max(1, Math.min((await nextAlertMs(db)) ?? idleMaxMs, idleMaxMs));
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
