// /api/agents/:id/webhook: where alerts of an agent are posted, its secret, and the deliveries.

import { webhookSchema } from "../../model/alert/alert.ts";
import { testMessage } from "../../model/alert/message.ts";
import { Refusal } from "../../model/refusal.ts";
import { deliveryDays, insertTestDelivery, listDeliveries } from "../../store/alerts/deliveries.ts";
import { findAlertedAgent } from "../../store/alerts/digests.ts";
import { findFailing } from "../../store/alerts/test-states.ts";
import {
  deleteWebhook,
  findWebhook,
  replaceSecret,
  type StoredWebhook,
  saveWebhook,
} from "../../store/alerts/webhooks.ts";
import type { Vault } from "../../store/secrets/vault.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../frame/page.ts";
import { limitTrials } from "../frame/rate-limit.ts";
import { routesOf } from "../frame/route.ts";
import { pageSchema } from "../frame/schemas.ts";
import { requireVerified } from "../frame/signed-in.ts";
import { AgentWebhook, Delivery, SavedWebhook, TestState } from "./schemas.ts";

export type WebhookDeps = {
  vault: Vault;
  /** Called when there is a message to send. */
  onAlert: () => void;
};

export function registerWebhooks(
  app: App,
  { db, machine, vault, config, onAlert }: Deps & WebhookDeps,
): void {
  const route = routesOf(app, "alerts");
  const busy = "A test message is already being created.";
  const trials = limitTrials({ db, machine }, { kind: "webhook tests", busy });

  route("GET /api/agents/:id/webhook", {
    access: "tokens",
    summary: "Get the webhook (secret omitted)",
    answer: AgentWebhook,
    handler: async ({ id }) => {
      const webhook = await findWebhook(db, vault, id);
      return { webhook: webhook ? withoutSecret(webhook) : null };
    },
  });

  route("PUT /api/agents/:id/webhook", {
    access: "session",
    summary: "Create the webhook, or change its URL; a new webhook's secret is shown only in this answer",
    body: webhookSchema,
    answer: SavedWebhook,
    handler: async ({ id, body: { url } }) => {
      const { webhook, created } = await saveWebhook(db, vault, id, url);
      return { webhook: withoutSecret(webhook), secret: created ? webhook.secret! : null };
    },
  });

  route("DELETE /api/agents/:id/webhook", {
    access: "session",
    summary: "Delete the webhook and its deliveries",
    handler: ({ id }) => deleteWebhook(db, id),
  });

  route("POST /api/agents/:id/webhook/secret", {
    access: "session",
    summary: "Replace the secret; the new one is shown only in this answer",
    answer: SavedWebhook,
    handler: async ({ id }) => {
      const webhook = await replaceSecret(db, vault, id);
      if (!webhook) throw noWebhook();
      return { webhook: withoutSecret(webhook), secret: webhook.secret! };
    },
  });

  route("POST /api/agents/:id/webhook/test", {
    access: "session",
    summary: "Send a test message to the webhook, once; read how it ended from the deliveries",
    status: 201,
    answer: Delivery,
    handler: async ({ id, account }) => {
      requireVerified(account, "Webhooks can be called");
      const agent = found(await findAlertedAgent(db, id));
      const body = JSON.stringify(testMessage(config.baseUrl, agent, new Date()));
      const delivery = await trials(account.id, () => insertTestDelivery(db, id, body));
      if (!delivery) throw noWebhook();
      onAlert();
      return delivery;
    },
  });

  route("GET /api/agents/:id/webhook/deliveries", {
    access: "tokens",
    summary: `List the webhook's deliveries of the last ${deliveryDays} days, newest first`,
    query: PageQuery,
    answer: pageSchema(Delivery),
    handler: async ({ id, query }) => pageOf(await listDeliveries(db, id, listingOf(query)), query),
  });

  route("GET /api/tests/:id/state", {
    access: "tokens",
    summary: "Tell whether the test is failing on live traffic: three failures in a row",
    answer: TestState,
    handler: async ({ id }) => ({ failing: (await findFailing(db, [id])).get(id) ?? null }),
  });
}

function withoutSecret({ secret, ...webhook }: StoredWebhook) {
  return { ...webhook, secretReadable: secret !== undefined };
}

function noWebhook(): Refusal {
  return new Refusal("CONFLICT", {
    message: "This agent has no webhook yet.",
    hint: "Save a URL in the agent's settings first.",
  });
}
