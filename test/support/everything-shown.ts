// Whatever the API, and so the dashboard, shows of a project: every GET of the OpenAPI document, exports, and what the editor,
// backtests, labels and the preview of an erasure say of its traces.

import assert from "node:assert/strict";
import type { ListedTrace } from "../../src/http/traces/schemas.ts";
import { staying } from "./canaries.ts";
import type { Client } from "./client.ts";
import { startErasure } from "./erasing.ts";
import { eventually } from "./eventually.ts";
import type { Made } from "./watched-service.ts";

/** Read below, with what they need in the query; or they never end. */
const readApart = new Set([
  "/api/agents/{id}/conversation",
  "/api/launches/{id}/compare",
  "/api/traces/{id}/spans/{spanId}",
  "/api/events",
  "/api/openapi.json",
]);

/** Deleted by id, and read by nobody. */
const withoutRows = new Set(["keys"]);

/** By what was read. */
export async function everythingShown(client: Client, made: Made): Promise<Map<string, string>> {
  const { projectId, agentId, testIds, launched, alike } = made;
  const agent = `/api/agents/${agentId}` as const;
  const shown = new Map<string, string>();
  const keep = <T>(name: string, { body }: { body: T }): T => {
    shown.set(name, typeof body === "string" ? body : JSON.stringify(body));
    return body;
  };
  const read: Client["read"] = async path => keep(path, await client.get(path).expect(200));
  /** Of traces without content, it may be refused. */
  const post = async <P extends string>(path: P, body: object) => {
    const answer = await client.post(path, body);
    assert.ok(answer.status < 500, `${path}: ${JSON.stringify(answer)}`);
    return keep(`POST ${shown.size} ${path}`, answer);
  };

  const traces: ListedTrace[] = [];
  for (const kind of ["live", "test_run"]) {
    const { items } = await read(`${agent}/traces?kind=${kind}&limit=50`);
    traces.push(...items.filter(({ externalId }) => !alike.includes(externalId)));
  }
  const traceIds: string[] = traces.map(({ id }) => id);
  const launchIds: string[] = (await read(`${agent}/launches`)).items.map(({ id }) => id);
  const runIds: string[] = [];
  for (const id of traceIds) for (const run of (await read(`/api/traces/${id}`)).runs) runIds.push(run.id);
  for (const id of launchIds) {
    for (const run of (await read(`/api/launches/${id}/runs`)).items) runIds.push(run.id);
  }

  // What people do with traces.
  const { name, scenario, assertions } = await read(`/api/tests/${testIds[0]}`);
  const document = { name, scenario, assertions, passiveBehavior: "always_run" };
  for (const traceId of traceIds.slice(0, 3)) {
    await post(`/api/traces/${traceId}/draft-test`, {});
    await post(`${agent}/tests/dry-run`, { test: document, traceId, routing: true });
    const { spans } = await read(`/api/traces/${traceId}/outline`);
    for (const attribute of ["gen_ai.response.text", "db.password"]) {
      await post(`/api/traces/${traceId}/draft-assertion`, { spanId: spans[0]!.spanId, attribute });
    }
  }
  await post(`${agent}/tests/trace-inputs`, { traceIds });
  await post(`${agent}/tests/try-scenario`, { scenario: `Anything of ${projectId}`, estimate: false });
  await post(`/api/projects/${projectId}/privacy/preview`, { builtIn: ["*"], rules: [], pseudonyms: [] });
  await post(`${agent}/trace-views`, { name: "All", search: { kind: "live" } });
  const { checks = [] } = (await read(`/api/runs/${runIds[0]}`)).results[0] ?? {};
  const semantic = checks.find(({ type }) => type === "semantic");
  const label = { testId: testIds[0], checkId: semantic?.id ?? null, answer: "fail", note: "Labeled" };
  keep("PUT label", await client.put(`/api/runs/${runIds[0]}/labels`, label));
  await post(`/api/projects/${projectId}/labels/try`, {});
  const backtest = await post(`${agent}/backtests`, { testId: testIds[0], traces: 50, judge: true });
  await eventually(async () => {
    const body = await client.read(`/api/backtests/${backtest.id}`);
    assert.equal(body.state, "completed");
  });
  const erasure = await startErasure({ client, projectId }, { text: staying.spanName, dryRun: true });
  assert.ok(erasure.matched > 0);

  const ids: Record<string, string[]> = {
    ...{ projects: [projectId], agents: [agentId], tests: [...testIds, ...launched] },
    ...{ traces: traceIds, runs: runIds, launches: launchIds },
    ...{ backtests: [backtest.id], erasures: [erasure.id] },
  };
  const { paths } = (await client.read("/api/openapi.json")) as { paths: Record<string, { get?: object }> };
  for (const [path, { get: operation }] of Object.entries(paths)) {
    if (!operation || readApart.has(path)) continue;
    const kind = /^\/api\/([\w-]+)\/\{id\}/.exec(path)?.[1];
    if (!kind) {
      if (path.startsWith("/api/")) await read(path);
      continue;
    }
    assert.ok(ids[kind] || withoutRows.has(kind), `nobody reads ${path}`);
    for (const id of ids[kind] ?? []) await read(path.replace("{id}", id));
  }
  for (const id of launchIds) await read(`/api/launches/${id}/compare?with=${id}`);
  for (const { id, conversationId } of traces) {
    for (const { spanId } of (await client.read(`/api/traces/${id}/outline`)).spans) {
      await read(`/api/traces/${id}/spans/${encodeURIComponent(spanId)}`);
    }
    if (!conversationId) continue;
    await read(`${agent}/conversation?conversationId=${encodeURIComponent(conversationId)}`);
  }
  for (const format of ["jsonl", "csv"]) {
    keep(`export ${format}`, await client.post(`${agent}/traces/export`, { traceIds, format }).expect(200));
  }
  return shown;
}
