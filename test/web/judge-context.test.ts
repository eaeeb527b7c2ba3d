// What the dashboard says the judge was shown, and what it was not.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as model from "../../src/model/judge/material.ts";
import { promptBounds } from "../../src/model/judge/prompt-bounds.ts";
import {
  contextWords,
  conversationMax,
  defaultContext,
  materialText,
  withheldText,
} from "../../web/judge-context.ts";

test("the choices, the default and the budget are those of the judge", () => {
  assert.deepEqual(Object.keys(contextWords), model.semanticContexts);
  assert.equal(defaultContext, model.defaultContext);
  assert.equal(conversationMax, promptBounds.conversation);
});

test("what was shown and left out is said in one line", () => {
  const [shown, leftOut] = [{ user: { items: 2, characters: 1_000 } }, {}];
  for (const [summary, expected] of [
    [{ shown: {}, leftOut, complete: true }, "User’s input and reply only."],
    [{ shown, leftOut, complete: true }, "User’s input, reply, and 2 user messages (1,000 characters)."],
    [
      {
        shown: { ...shown, system: { items: 1, characters: 20 }, tool_call: { items: 1, characters: 4 } },
        leftOut: { tool_result: { items: 1, characters: 9_000 } },
        complete: false,
      },
      "User’s input, reply, and 1 system instruction, 2 user messages and 1 tool call (1,024 characters). Left out: 1 tool result (9,000 characters). The trace was too large to be read as a whole.",
    ],
    [
      { shown, leftOut: { user: { items: 0, characters: 500 } }, complete: true },
      "User’s input, reply, and 2 user messages (1,000 characters). Left out: parts of long items (500 characters).",
    ],
  ] as const) {
    assert.equal(materialText(summary), expected);
  }
});

test("what privacy settings withheld is said in one line", () => {
  assert.equal(withheldText({ toolResults: 1 }), "1 tool result.");
  assert.equal(
    withheldText({ toolResults: 2, rules: ["email", "card"] }),
    "2 tool results; values found by “email” and “card”.",
  );
});
