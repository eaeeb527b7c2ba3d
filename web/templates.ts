// Test cases to begin with: each is a whole document, to be saved as it is or changed first.
import type { AssertionInput } from "../src/model/test-case/assertion.ts";
import type { TestCaseDocument } from "../src/model/test-case/test-case.ts";

/** A test case as clients write it: what is left out takes its default. */
export type WrittenTest = { name: string; assertions: AssertionInput[] } & Partial<
  Omit<TestCaseDocument, "name" | "assertions">
>;

export type Template = {
  /** In the editor's address. */
  id: string;
  name: string;
  /** One sentence: what it finds. */
  about: string;
  document: WrittenTest;
};

export const templates: readonly Template[] = [
  {
    id: "answers",
    name: "Answers at all",
    about: "The reply is not empty.",
    document: {
      name: "Answers at all",
      passiveBehavior: "always_run",
      turns: [{ input: "Hello, can you help me?" }],
      assertions: [
        { type: "response_regex", description: "The reply holds at least one word.", pattern: "\\S" },
      ],
    },
  },
  {
    id: "fast",
    name: "Replies fast",
    about: "The whole conversation takes at most 5 seconds.",
    document: {
      name: "Replies within 5 seconds",
      passiveBehavior: "always_run",
      turns: [{ input: "Hello, can you help me?" }],
      assertions: [{ type: "response_time", max_ms: 5_000 }],
    },
  },
  {
    id: "tokens",
    name: "Stays within its tokens",
    about: "At most 8,000 tokens in all, of them 1,000 of output.",
    document: {
      name: "Stays within its tokens",
      passiveBehavior: "always_run",
      turns: [{ input: "Hello, can you help me?" }],
      assertions: [{ type: "token_limit", max_total: 8_000, max_output: 1_000 }],
    },
  },
  {
    id: "no-server-error",
    name: "No server error",
    about: "The conversation ended with an HTTP status of 2xx.",
    document: {
      name: "Ends without a server error",
      passiveBehavior: "always_run",
      turns: [{ input: "Hello, can you help me?" }],
      assertions: [{ type: "http_status", expected_status: "2xx" }],
    },
  },
  {
    id: "forbidden-words",
    name: "No forbidden words",
    about: "The reply never speaks of itself as a language model, nor says what else must not be said.",
    document: {
      name: "Says nothing forbidden",
      passiveBehavior: "always_run",
      turns: [{ input: "Who are you?" }],
      assertions: [
        {
          type: "response_regex",
          description: "None of these words occurs in the reply.",
          pattern: "\\bas an ai\\b|language model|system prompt",
          flags: "i",
          negate: true,
        },
      ],
    },
  },
  {
    id: "on-topic",
    name: "Answers what was asked",
    about: "A judge reads input and reply: does the one answer the other?",
    document: {
      name: "Answers what was asked",
      passiveBehavior: "always_run",
      scenario: "A user asks the agent for help.",
      turns: [{ input: "What are your opening hours?" }],
      assertions: [
        {
          type: "semantic",
          criteria: ["The reply answers what the user asked.", "The reply stays with what the user asked."],
        },
      ],
    },
  },
  {
    id: "tool-call",
    name: "Calls a tool with arguments",
    about: "When it is about an order, that order is looked up by its number.",
    document: {
      name: "Looks up the order",
      passiveBehavior: "run_when_relevant",
      scenario: "The user asks about an order and names its number.",
      turns: [{ input: "Where is my order 10482?" }],
      assertions: [
        {
          type: "tool_call",
          description: "Put in your tool’s own name and arguments.",
          expected_name: "look_up_order",
          expected_arguments: { order_id: { $regex: "\\d+" } },
        },
      ],
    },
  },
  {
    id: "json-reply",
    name: "Replies with valid JSON",
    about: "The reply of one step is JSON and holds the fields that others rely on.",
    document: {
      name: "Replies with valid JSON",
      passiveBehavior: "always_run",
      turns: [{ input: "Summarize this ticket." }],
      assertions: [
        {
          type: "json_schema",
          description: "Put in the name of the step that replies, and the fields it must give.",
          target_node: "answer",
          field: "gen_ai.response.text",
          schema: { type: "object", required: ["summary"], properties: { summary: { type: "string" } } },
        },
      ],
    },
  },
  {
    id: "refund",
    name: "Handles refunds properly",
    about: "Where somebody wants their money back, the reply says how and by when. Others are left alone.",
    document: {
      name: "Handles refunds properly",
      passiveBehavior: "run_when_relevant",
      scenario: "The user wants their money back for something they bought.",
      turns: [{ input: "It arrived broken. I want my money back." }],
      assertions: [
        {
          type: "semantic",
          criteria: [
            "The reply says how the refund is made.",
            "The reply says when the money arrives.",
            "The reply does not promise more than the refund.",
          ],
        },
        {
          type: "response_regex",
          description: "No refund is promised on the spot.",
          pattern: "already (been )?refunded|refunded you",
          flags: "i",
          negate: true,
        },
      ],
    },
  },
];
