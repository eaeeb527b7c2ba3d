// Test case templates: complete documents that users save as they are or adapt first.

import type { AssertionInput } from "../src/model/test-case/assertion.ts";
import type { TestCaseDocument } from "../src/model/test-case/document.ts";

/** A test case as clients send it: absent fields take their defaults. */
export type WrittenTest = { name: string; assertions: AssertionInput[] } & Partial<
  Omit<TestCaseDocument, "name" | "assertions">
>;

export type Template = {
  /** In the editor's URL. */
  id: string;
  name: string;
  /** One sentence: what it finds. */
  about: string;
  document: WrittenTest;
};

export const templates: readonly Template[] = [
  {
    id: "answers",
    name: "Gives a reply",
    about: "The reply is not empty.",
    document: {
      name: "Gives a reply",
      passiveBehavior: "always_run",
      turns: [{ input: "Hello, can you help me?" }],
      assertions: [{ type: "response_regex", description: "The reply is not empty.", pattern: "\\S" }],
    },
  },
  {
    id: "fast",
    name: "Replies quickly",
    about: "The trace takes at most 5 seconds.",
    document: {
      name: "Replies within 5 seconds",
      passiveBehavior: "always_run",
      turns: [{ input: "Hello, can you help me?" }],
      assertions: [{ type: "response_time", max_ms: 5_000 }],
    },
  },
  {
    id: "tokens",
    name: "Stays within token limits",
    about: "At most 8,000 tokens in total and 1,000 of output.",
    document: {
      name: "Stays within token limits",
      passiveBehavior: "always_run",
      turns: [{ input: "Hello, can you help me?" }],
      assertions: [{ type: "token_limit", max_total: 8_000, max_output: 1_000 }],
    },
  },
  {
    id: "no-server-error",
    name: "No server errors",
    about: "The trace ends with an HTTP status of 2xx.",
    document: {
      name: "Ends without server errors",
      passiveBehavior: "always_run",
      turns: [{ input: "Hello, can you help me?" }],
      assertions: [{ type: "http_status", expected_status: "2xx" }],
    },
  },
  {
    id: "forbidden-words",
    name: "No forbidden words",
    about: "The reply contains none of the words that you forbid.",
    document: {
      name: "Uses no forbidden words",
      passiveBehavior: "always_run",
      turns: [{ input: "Who are you?" }],
      assertions: [
        {
          type: "response_regex",
          description: "The reply contains none of these words.",
          pattern: "\\bas\\s+an\\s+ai\\b|language\\s+model|system\\s+prompt",
          flags: "i",
          negate: true,
        },
      ],
    },
  },
  {
    id: "on-topic",
    name: "Answers the question",
    about: "The judge decides whether the reply answers the user’s question.",
    document: {
      name: "Answers the question",
      passiveBehavior: "always_run",
      scenario: "A user asks the agent for help.",
      turns: [{ input: "What are your opening hours?" }],
      assertions: [
        {
          type: "semantic",
          criteria: ["The reply answers the user’s question.", "The reply stays on topic."],
        },
      ],
    },
  },
  {
    id: "tool-call",
    name: "Calls a tool with arguments",
    about: "When a user asks about an order, the agent looks it up by its number.",
    document: {
      name: "Looks up the order",
      passiveBehavior: "run_when_relevant",
      scenario: "The user asks about an order and gives its number.",
      turns: [{ input: "Where is my order 10482?" }],
      assertions: [
        {
          type: "tool_call",
          description: "Replace the name and arguments with those of your tool.",
          expected_name: "look_up_order",
          expected_arguments: { order_id: { $regex: "\\d+" } },
        },
      ],
    },
  },
  {
    id: "json-reply",
    name: "Replies with valid JSON",
    about: "One step replies with JSON that has the required fields.",
    document: {
      name: "Replies with valid JSON",
      passiveBehavior: "always_run",
      turns: [{ input: "Summarize this ticket." }],
      assertions: [
        {
          type: "json_schema",
          description: "Replace the step name and the required fields with your own.",
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
    about: "When a user wants a refund, the reply says how and when. Other traces are not affected.",
    document: {
      name: "Handles refunds properly",
      passiveBehavior: "run_when_relevant",
      scenario: "The user wants a refund for a purchase.",
      turns: [{ input: "It arrived broken. I want my money back." }],
      assertions: [
        {
          type: "semantic",
          criteria: [
            "The reply explains how the refund works.",
            "The reply says when the money arrives.",
            "The reply promises nothing beyond the refund.",
          ],
        },
        {
          type: "response_regex",
          description: "The agent does not claim that it has paid the refund.",
          pattern:
            "(?:^|[^\\w\\s'’-]\\s*|-\\s|\\b(?:and|but|so)\\s|\\bconfirm(?:ing)?\\s(?:that\\s)?|\\bto\\ssay\\s(?:that\\s)?)(?:(?:I|we)(?:['’]ve|\\shave)?|(?:my|our)(?:\\s\\w+){1,2}\\shas)(?:\\s(?:just|now|already|also|fully|successfully|immediately|automatically|\\w+ed\\sand|(?:gone|went)\\sahead\\sand))*\\s(?:refunded|reimbursed|credited|reversed|(?:issued|processed|completed|made|sent|paid|returned|transferred|wired|put)(?:\\s(?:your|the|an?|this|that|both|all|full|whole|total|entire|purchase|order|item|price|payment|deposit|shipping|delivery|money|amount|charges?|fees?|refund|card|account|of|for|in|to|you|it|back|[#$€£]?\\d\\S*|dollars|euros))*\\s(?:refund(?:[.,!;]|\\s(?:of|to|for|on|in|and|earlier|today)\\b|$)|(?:money|amount|[$€£]\\S+)(?:[\\s.,!]|$))|cancell?ed\\s[^.!?]{1,40}\\sand(?:\\shave)?\\srefunded)",
          flags: "im",
          negate: true,
        },
        {
          type: "response_regex",
          description: "The reply does not claim that the user or the order has been refunded.",
          pattern:
            "(?:^|[^\\w\\s'’-]\\s*|-\\s|\\b(?:and|but|so)\\s|\\bconfirm(?:ing)?\\s(?:that\\s)?|\\bto\\ssay\\s(?:that\\s)?)(?:(?:your|the|an?|this|that|both|all|full|whole|total|entire|purchase|order|item|price|payment|deposit|shipping|delivery|money|amount|charges?|fees?|refund|card|account|of|for|in|to|you|it|back|[#$€£]?\\d\\S*|dollars|euros)\\s)*(?:your|the|an?|this|that|both|all|full|whole|total|entire|purchase|order|item|price|payment|deposit|shipping|delivery|money|amount|charges?|fees?|refund|card|account|of|for|in|to|you|it|back|[#$€£]?\\d\\S*|dollars|euros)(?:['’](?:s|ve)|\\sha(?:s|ve)|\\sw(?:as|ere))(?:\\s(?:now|already|just|been|successfully|fully|cancell?ed\\sand))*\\s(?:refunded|reimbursed|credited|reversed)",
          flags: "im",
          negate: true,
        },
        {
          type: "response_regex",
          description: "The reply does not claim that the refund has been issued.",
          pattern:
            "(?:^|[^\\w\\s'’-]\\s*|-\\s|\\b(?:and|but|so)\\s|\\bconfirm(?:ing)?\\s(?:that\\s)?|\\bto\\ssay\\s(?:that\\s)?)(?:(?:your|the|an?|this|that|both|all|full|whole|total|entire|purchase|order|item|price|payment|deposit|shipping|delivery|money|amount|charges?|fees?|refund|card|account|of|for|in|to|you|it|back|[#$€£]?\\d\\S*|dollars|euros)\\s)*(?:refund|money|amount|total)(?:\\s(?:your|the|an?|this|that|both|all|full|whole|total|entire|purchase|order|item|price|payment|deposit|shipping|delivery|money|amount|charges?|fees?|refund|card|account|of|for|in|to|you|it|back|[#$€£]?\\d\\S*|dollars|euros))*(?:(?:['’](?:s|ve)|\\sha(?:s|ve)|\\sw(?:as|ere))(?:\\s(?:now|already|just|been|successfully|fully|cancell?ed\\sand))*\\s(?:issued|processed|completed|sent|paid|returned|transferred|gone\\sthrough)|\\sis\\s(?:now\\s)?(?:already|back\\s|(?:complete|done)(?:[.!]|$))|\\s(?:issued|processed|completed?|sent)(?:[:.!*]|$|\\s\\W))",
          flags: "im",
          negate: true,
        },
      ],
    },
  },
];
