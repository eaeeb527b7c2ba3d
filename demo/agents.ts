// The demo's agents: how each sends its traces, its test cases and its sample conversations.
import { helpdeskConversations } from "./conversations/helpdesk.ts";
import { reviewReplies } from "./conversations/reviews.ts";
import { shopConversations } from "./conversations/shop.ts";
import { travelConversations } from "./conversations/travel.ts";
import type { Step } from "./sample.ts";
import { helpdeskTests, reviewTests, shopTests, travelTests, type WrittenTest } from "./test-cases.ts";

export type DemoAgent = {
  name: string;
  type: "http_api" | "workflow" | "flow_builder";
  /** The OpenTelemetry service name of its exporter; null: it sends plain JSON. */
  otlpServiceName: string | null;
  /** The convention that its instrumentation writes; absent: documented attributes. */
  conventions?: string[];
  tests: WrittenTest[];
  conversations: Step[];
};

export const demoAgents: DemoAgent[] = [
  {
    name: "Shop",
    type: "http_api",
    otlpServiceName: "shop-assistant",
    tests: shopTests,
    conversations: shopConversations,
  },
  {
    name: "Travel",
    type: "http_api",
    otlpServiceName: "travel-agent",
    conventions: ["openinference"],
    tests: travelTests,
    conversations: travelConversations,
  },
  {
    name: "Helpdesk",
    type: "workflow",
    otlpServiceName: null,
    tests: helpdeskTests,
    conversations: helpdeskConversations,
  },
  {
    name: "Reviews",
    type: "flow_builder",
    otlpServiceName: null,
    tests: reviewTests,
    conversations: reviewReplies,
  },
];
