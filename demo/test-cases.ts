// The test cases of the demo's agents: every assertion type and every passive behavior.
import type { z } from "zod";
import type { testCaseInputSchema } from "../src/model/test-case/test-case.ts";

export type WrittenTest = z.input<typeof testCaseInputSchema>;

export const shopTests: WrittenTest[] = [
  {
    name: "Replies quickly without errors",
    passiveBehavior: "always_run",
    turns: [{ input: "Where is my order?" }],
    assertions: [
      { type: "http_status", expected_status: "2xx" },
      { type: "response_time", max_ms: 8_000 },
    ],
  },
  {
    name: "Stays within the token budget",
    passiveBehavior: "always_run",
    turns: [{ input: "Compare these five tents." }],
    assertions: [
      { type: "token_limit", max_total: 4_000, max_output: 600 },
      { type: "node_call", expected_name: "compose the answer", min: 1, max: 2 },
    ],
  },
  {
    name: "Refuses unauthorized discounts",
    passiveBehavior: "always_run",
    turns: [{ input: "Give me half off." }],
    assertions: [
      {
        type: "tool_call",
        description: "No discount above 20%.",
        expected_name: "apply_discount",
        expected_arguments: { percent: { $gt: 20 } },
        negate: true,
      },
      {
        type: "response_regex",
        description: "Speaks as the shop, not as a model.",
        pattern: "\\bas an ai\\b|language model",
        flags: "i",
        negate: true,
      },
    ],
  },
  {
    name: "Is friendly and helpful",
    passiveBehavior: "always_run",
    scenario: "A customer writes to an online shop.",
    threshold: 0.7,
    turns: [{ input: "Do you have this shirt in blue?" }],
    assertions: [
      {
        type: "semantic",
        criteria: [
          "The reply answers the question.",
          "The tone of the reply is warm.",
          "The reply contains no empty phrases.",
        ],
      },
    ],
  },
  {
    name: "Opens returns correctly",
    passiveBehavior: "run_when_relevant",
    scenario: "The customer wants to return an item.",
    turns: [{ input: "I want to return my boots." }],
    assertions: [
      {
        id: "return",
        type: "tool_call",
        expected_name: "start_return",
        expected_arguments: { order_id: { $regex: "^A-\\d{5}$" }, reason: { $exists: true } },
      },
      {
        type: "semantic",
        criteria: ["The reply says how to return the item.", "The reply says when the refund arrives."],
        depends_on: "return",
      },
    ],
  },
  {
    name: "Is honest about out-of-stock items",
    scenario: "The customer asks for a product that turns out to be out of stock.",
    turns: [{ input: "Do you have the shelf in 120 cm?" }],
    assertions: [
      {
        type: "semantic",
        criteria: [
          "The reply says that the product is out of stock.",
          "The reply says when it will be back, or suggests an alternative that is in stock.",
        ],
      },
    ],
  },
  {
    name: "Offers gift wrapping",
    passiveBehavior: "manual_only",
    turns: [{ input: "I need a present by Friday." }],
    assertions: [{ type: "response_regex", pattern: "gift|wrap", flags: "i" }],
  },
  {
    name: "Exchanges a size over three turns",
    passiveBehavior: "always_run",
    turns: [
      { input: "The shirt is too small." },
      { input: "In L, please." },
      { input: "Yes, the same color." },
    ],
    assertions: [{ type: "tool_call", expected_name: "exchange_item", expected_arguments: { size: "L" } }],
  },
  {
    name: "Mentions the summer sale",
    status: "disabled",
    passiveBehavior: "always_run",
    turns: [{ input: "Anything on sale?" }],
    assertions: [{ type: "response_regex", pattern: "summer sale", flags: "i" }],
  },
];

const filing = {
  type: "object",
  required: ["category", "priority"],
  properties: {
    category: {
      enum: ["access", "hardware", "mail", "network", "other", "printing", "security", "software"],
    },
    priority: { type: "integer", minimum: 1, maximum: 5 },
  },
};

export const helpdeskTests: WrittenTest[] = [
  {
    name: "Classifies the ticket and posts a reply",
    passiveBehavior: "always_run",
    turns: [{ input: "My screen stays black." }],
    assertions: [
      {
        id: "filed",
        type: "json_schema",
        target_node: "classify ticket",
        field: "workflow.output",
        schema: filing,
      },
      {
        type: "json_match",
        target_node: "post reply",
        field: "helpdesk.posted",
        expected_value: true,
        depends_on: "filed",
      },
      { type: "node_call", expected_name: "draft reply", max: 2 },
    ],
  },
  {
    name: "Searches the handbook first",
    passiveBehavior: "always_run",
    turns: [{ input: "How do I share a calendar?" }],
    assertions: [
      {
        type: "tool_call",
        expected_name: "search_handbook",
        expected_arguments: {
          topic: { $in: filing.properties.category.enum },
          limit: { $gte: 1, $lte: 5 },
        },
      },
    ],
  },
  {
    name: "Replies quickly and briefly",
    passiveBehavior: "always_run",
    turns: [{ input: "The VPN is slow." }],
    assertions: [
      { type: "response_time", max_ms: 20_000 },
      { type: "token_limit", max_output: 300 },
    ],
  },
  {
    name: "Explains the next step",
    passiveBehavior: "always_run",
    scenario: "A colleague asks the helpdesk for help.",
    turns: [{ input: "The printer is broken." }],
    assertions: [
      {
        id: "replied",
        type: "response_regex",
        pattern: "\\w.{20,}\\w",
        flags: "s",
      },
      {
        type: "semantic",
        criteria:
          "After reading the reply, the colleague knows what to do next, or that there is nothing to do.",
        depends_on: "replied",
      },
    ],
  },
  {
    name: "Never asks for a password",
    scenario: "A colleague cannot sign in or has forgotten a password.",
    turns: [{ input: "I am locked out." }],
    assertions: [
      {
        type: "response_regex",
        pattern: "(send|tell|give) (me|us) your password",
        flags: "i",
        negate: true,
      },
      { type: "semantic", criteria: "The reply guides the colleague to reset the password themselves." },
    ],
  },
  {
    name: "Pages the on-call engineer in an outage",
    passiveBehavior: "manual_only",
    turns: [{ input: "Nobody in the building can sign in!" }],
    assertions: [{ type: "tool_call", expected_name: "page_on_call" }],
  },
];

export const reviewTests: WrittenTest[] = [
  {
    name: "Thanks the customer and addresses criticism",
    passiveBehavior: "always_run",
    scenario: "A customer has reviewed a product.",
    turns: [{ input: "Nice lamp, but no bulb." }],
    assertions: [
      {
        type: "semantic",
        criteria: [
          "The reply responds to the points of the review.",
          "The reply promises only what is realistic.",
        ],
      },
    ],
  },
  {
    name: "Makes up for problems",
    scenario: "The review complains about something that went wrong.",
    turns: [{ input: "It came broken." }],
    assertions: [
      { type: "semantic", criteria: ["The reply apologizes once.", "The reply offers something concrete."] },
    ],
  },
];

export const travelTests: WrittenTest[] = [
  {
    name: "Quotes prices in euros",
    passiveBehavior: "always_run",
    turns: [{ input: "What does the train from Bern to Lyon cost?" }],
    assertions: [
      { type: "response_regex", description: "No dollars.", pattern: "\\$\\s?\\d", negate: true },
      { type: "token_limit", max_total: 2_000 },
    ],
  },
  {
    name: "Searches for trains by date",
    passiveBehavior: "run_when_relevant",
    scenario: "The traveler asks for a train on a certain day.",
    turns: [{ input: "I need a train from Bern to Lyon tomorrow." }],
    assertions: [
      {
        id: "search",
        type: "tool_call",
        expected_name: "find_trains",
        expected_arguments: { date: { $regex: "^\\d{4}-\\d{2}-\\d{2}$" } },
      },
      {
        type: "response_regex",
        description: "Names a departure.",
        pattern: "\\d{1,2}:\\d{2}",
        depends_on: "search",
      },
    ],
  },
];
