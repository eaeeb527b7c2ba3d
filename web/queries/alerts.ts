// Queries for alerts: the email switch, an agent's webhook and its deliveries, and whether a test is failing.
import { queryOptions } from "@tanstack/react-query";
import type { AgentWebhook, Delivery, EmailAlerts, TestState } from "../../src/http/alerts/schemas.ts";
import { read } from "../api.ts";
import { pagesOf } from "./pages.ts";
import { testQuery } from "./tests.ts";

export const emailAlertsQuery = queryOptions({
  queryKey: ["email-alerts"],
  queryFn: ({ signal }) => read<EmailAlerts>("/api/email-alerts", signal),
});

export const webhookQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "webhook"],
    queryFn: ({ signal }) => read<AgentWebhook>(`/api/agents/${agentId}/webhook`, signal),
  });

export const deliveriesQuery = (agentId: string) =>
  pagesOf<Delivery>(
    ["agents", agentId, "webhook", "deliveries"],
    `/api/agents/${agentId}/webhook/deliveries`,
    20,
  );

/** Keyed below the test, so that it is refetched with it. */
export const testStateQuery = (testId: string) =>
  queryOptions({
    queryKey: [...testQuery(testId).queryKey, "state"],
    queryFn: ({ signal }) => read<TestState>(`/api/tests/${testId}/state`, signal),
  });
