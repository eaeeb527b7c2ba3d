// What the list of traces shows of given traces.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ListedTrace } from "../../../src/http/traces/schemas.ts";
import { agentId, projectId, useScreens } from "../../support/component.ts";
import { eventually } from "../../support/eventually.ts";
import { traceRow as row, rowShows } from "../../support/traces-page.ts";

const screens = useScreens();

const at = "2026-03-02T10:20:30.000Z";
const nextId = () => crypto.randomUUID();

/** A trace that passed one test. */
function listed(fields: Partial<ListedTrace>): ListedTrace {
  const run: ListedTrace["run"] = {
    ...{
      id: nextId(),
      traceId: nextId(),
      agentId,
      kind: "passive",
      launchId: null,
      state: "completed",
      verdict: "passed",
    },
    ...{ revision: 1, attempts: 1, dueAt: at, createdAt: at, startedAt: at, finishedAt: at },
    ...{ routing: "not_needed", score: 1, error: null, cause: "traffic", outage: false, waiting: null },
    fullyEvaluated: true,
    counts: { passed: 1, failed: 0, skipped: 0, missing_instrumentation: 0 },
  };
  return {
    ...{ id: nextId(), agentId, externalId: nextId(), kind: "live", path: "otlp", name: "POST /chat" },
    ...{ revision: 1, receivedAt: at, updatedAt: at, contentForgottenAt: null, durationMs: 1_000 },
    ...{ httpStatus: 200, failed: false, spanCount: 5, userInput: null, responseText: null },
    tokens: { input: 640, output: 118, reasoning: null, cached: null, total: 758 },
    ...{ costUsd: null, knownCostUsd: null, unpriced: [], conversationId: null, userId: null },
    ...{ redacted: [], failedTests: [], run },
    ...fields,
  };
}

test("a failed trace names its failed tests, two at most, and the rest on hover", async () => {
  const slow = listed({ userInput: "with many failures", durationMs: 2_000 });
  const names = ["Refunds in dollars", "Never discounts", "Answers politely"];
  const items = [
    {
      ...slow,
      failedTests: names.map(name => ({ id: nextId(), name })),
      run: { ...slow.run!, verdict: "failed" as const, counts: { ...slow.run!.counts!, failed: 4 } },
    },
    listed({ userInput: "half as slow" }),
  ];
  const page = await screens.open(`/projects/${projectId}/agents/${agentId}/traces`, {
    "/api/agents/:id/traces": { items, nextCursor: null, ordered: null, searched: null },
  });
  await rowShows(page, "with many failures", "Refunds in dollars", "Never discounts", "+2 failed");
  await eventually(async () =>
    assert.doesNotMatch((await row(page, "with many failures").textContent())!, /Answers politely/),
  );
  await page
    .getByTitle("Failed:\nRefunds in dollars\nNever discounts\nAnswers politely\nand 1 more test")
    .waitFor();
  await rowShows(page, "with many failures", "2 s, 100% of the slowest");
  await rowShows(page, "half as slow", "1 s, 50% of the slowest");
});
