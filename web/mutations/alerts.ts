// Changes to alerts: the email switch, an agent's webhook and its secret, and test messages.
import type { Delivery, EmailAlerts, SavedWebhook, TurnedOff } from "../../src/http/alerts/schemas.ts";
import { type Answer, ask, remove } from "../api.ts";

export const setEmailAlerts = (on: boolean): Promise<Answer<EmailAlerts>> =>
  ask("PUT", "/api/email-alerts", { body: { on } });

/** With the token of a link in an email; needs no session. */
export const turnOffAlerts = (token: string): Promise<Answer<TurnedOff>> =>
  ask("POST", `/alerts/off?${new URLSearchParams({ token })}`);

export const saveWebhook = (agentId: string, url: string): Promise<Answer<SavedWebhook>> =>
  ask("PUT", `/api/agents/${agentId}/webhook`, { body: { url } });

export const replaceWebhookSecret = (agentId: string): Promise<Answer<SavedWebhook>> =>
  ask("POST", `/api/agents/${agentId}/webhook/secret`);

export const testWebhook = (agentId: string): Promise<Answer<Delivery>> =>
  ask("POST", `/api/agents/${agentId}/webhook/test`);

export const deleteWebhook = (agentId: string) => remove(`/api/agents/${agentId}/webhook`);
