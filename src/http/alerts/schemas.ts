// The response schemas of alerts: email settings, webhooks, deliveries, and the state of tests.
import { z } from "zod";
import { Id, Time } from "../frame/schemas.ts";

export const EmailAlerts = z
  .object({
    on: z.boolean(),
    email: z.string(),
    verified: z.boolean().describe("Alerts are sent to verified emails only."),
    mailServer: z.boolean().describe("False: this service has no mail server, so no alerts are emailed."),
  })
  .meta({ id: "EmailAlerts" });
export type EmailAlerts = z.output<typeof EmailAlerts>;

export const TurnedOff = z.object({ on: z.literal(false) }).meta({ id: "EmailAlertsTurnedOff" });
export type TurnedOff = z.output<typeof TurnedOff>;

export const Webhook = z
  .object({
    url: z.string(),
    secretReadable: z
      .boolean()
      .describe("False: the secret was encrypted with another key, so nothing is sent until it is replaced."),
    createdAt: Time,
  })
  .meta({ id: "Webhook" });
export type Webhook = z.output<typeof Webhook>;

export const AgentWebhook = z
  .object({ webhook: Webhook.nullable().describe("Null if the agent has no webhook.") })
  .meta({ id: "AgentWebhook" });
export type AgentWebhook = z.output<typeof AgentWebhook>;

export const SavedWebhook = z
  .object({
    webhook: Webhook,
    secret: z.string().nullable().describe("The signing secret, shown only once; null if it was kept."),
  })
  .meta({ id: "SavedWebhook" });
export type SavedWebhook = z.output<typeof SavedWebhook>;

export const Delivery = z
  .object({
    id: Id.describe("Sent as webhook-id, the same for every attempt."),
    kind: z.enum(["alert", "test"]),
    state: z.enum(["pending", "delivered", "failed"]),
    attempts: z.number().int(),
    createdAt: Time,
    triedAt: Time.nullable().describe("The last attempt."),
    nextTryAt: Time.nullable().describe("Null once it is delivered or has failed."),
    status: z.number().int().nullable().describe("HTTP status of the last answer; null without one."),
    error: z.string().nullable().describe("Why the last attempt failed, in one sentence."),
  })
  .meta({ id: "WebhookDelivery" });
export type Delivery = z.output<typeof Delivery>;

export const Failing = z
  .object({
    since: Time.describe("When the first trace of the three failures in a row arrived."),
    traceId: Id.nullable().describe("That trace; null if it was deleted."),
  })
  .meta({ id: "FailingTest" });
export type Failing = z.output<typeof Failing>;

export const TestState = z
  .object({ failing: Failing.nullable().describe("Null if the test is not failing.") })
  .meta({ id: "TestState" });
export type TestState = z.output<typeof TestState>;
