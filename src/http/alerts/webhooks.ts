// /api/agents/:id/webhook: where alerts of an agent are posted, its secret, and the deliveries.

import { z } from "zod";
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
import type { App, Deps } from "../deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../page.ts";
import { limitTrials } from "../rate-limit.ts";
import { pageSchema } from "../schemas.ts";
import { requireVerified } from "../signed-in.ts";
import { AgentWebhook, Delivery, SavedWebhook, TestState, type Webhook } from "./schemas.ts";
import { failingView } from "./view.ts";

export type WebhookDeps = {
  vault: Vault;
  /** Called when there is a message to send. */
  onAlert: () => void;
};

export function registerWebhooks(
  app: App,
  { db, machine, vault, config, onAlert }: Deps & WebhookDeps,
): void {
  const params = z.object({ id: z.string() });
  const schema = { tags: ["alerts"], params };
  const busy = "A test message is already being created.";
  const trials = limitTrials({ db, machine }, { kind: "webhook tests", busy });

  app.get(
    "/api/agents/:id/webhook",
    { schema: { ...schema, summary: "Get the webhook (secret omitted)", response: { 200: AgentWebhook } } },
    async ({ params: { id } }) => {
      const webhook = await findWebhook(db, vault, id);
      return { webhook: webhook ? viewOf(webhook) : null };
    },
  );

  app.put(
    "/api/agents/:id/webhook",
    {
      schema: {
        ...schema,
        summary: "Create the webhook, or change its URL; a new webhook's secret is shown only in this answer",
        body: webhookSchema,
        response: { 200: SavedWebhook },
      },
    },
    async ({ params: { id }, body: { url } }) => {
      const { webhook, created } = await saveWebhook(db, vault, id, url);
      return { webhook: viewOf(webhook), secret: created ? webhook.secret! : null };
    },
  );

  app.delete(
    "/api/agents/:id/webhook",
    {
      schema: {
        ...schema,
        summary: "Delete the webhook and its deliveries",
        response: { 204: z.undefined() },
      },
    },
    async (request, reply) => {
      await deleteWebhook(db, request.params.id);
      return reply.code(204).send();
    },
  );

  app.post(
    "/api/agents/:id/webhook/secret",
    {
      schema: {
        ...schema,
        summary: "Replace the secret; the new one is shown only in this answer",
        response: { 200: SavedWebhook },
      },
    },
    async ({ params: { id } }) => {
      const webhook = await replaceSecret(db, vault, id);
      if (!webhook) throw noWebhook();
      return { webhook: viewOf(webhook), secret: webhook.secret! };
    },
  );

  app.post(
    "/api/agents/:id/webhook/test",
    {
      schema: {
        ...schema,
        summary: "Send a test message to the webhook, once; read how it ended from the deliveries",
        response: { 201: Delivery },
      },
    },
    async (request, reply) => {
      const account = requireVerified(request, "Webhooks can be called");
      const { id } = request.params;
      const agent = found(await findAlertedAgent(db, id));
      const body = JSON.stringify(testMessage(config.baseUrl, agent, new Date()));
      const delivery = await trials(account.id, () => insertTestDelivery(db, id, body));
      if (!delivery) throw noWebhook();
      onAlert();
      return reply.code(201).send(deliveryView(delivery));
    },
  );

  app.get(
    "/api/agents/:id/webhook/deliveries",
    {
      schema: {
        ...schema,
        summary: `List the webhook's deliveries of the last ${deliveryDays} days, newest first`,
        querystring: PageQuery,
        response: { 200: pageSchema(Delivery) },
      },
    },
    async ({ params: { id }, query }) => {
      const deliveries = await listDeliveries(db, id, listingOf(query));
      return pageOf(deliveries.map(deliveryView), query);
    },
  );

  app.get(
    "/api/tests/:id/state",
    {
      schema: {
        tags: ["alerts"],
        params,
        summary: "Tell whether the test is failing on live traffic: three failures in a row",
        response: { 200: TestState },
      },
    },
    async ({ params: { id } }) => ({ failing: failingView((await findFailing(db, [id])).get(id)) }),
  );
}

function viewOf({ url, secret, createdAt }: StoredWebhook): Webhook {
  return { url, secretReadable: secret !== undefined, createdAt: createdAt.toISOString() };
}

function deliveryView(delivery: Awaited<ReturnType<typeof listDeliveries>>[number]): Delivery {
  const { createdAt, triedAt, nextTryAt } = delivery;
  return {
    ...delivery,
    createdAt: createdAt.toISOString(),
    triedAt: triedAt?.toISOString() ?? null,
    nextTryAt: nextTryAt?.toISOString() ?? null,
  };
}

function noWebhook(): Refusal {
  return new Refusal("CONFLICT", {
    message: "This agent has no webhook yet.",
    hint: "Save a URL in the agent's settings first.",
  });
}
