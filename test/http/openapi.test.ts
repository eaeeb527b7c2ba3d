// The description of the API leaves no address out and points to nothing that is not there.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Logger } from "pino";
import { readConfig } from "../../src/config.ts";
import { EditorHost } from "../../src/editor-host.ts";
import { registerAccessTokens } from "../../src/http/access-tokens.ts";
import { registerAgentConnections } from "../../src/http/agent-connections.ts";
import type { App, Deps } from "../../src/http/deps.ts";
import { registerEditor } from "../../src/http/editor.ts";
import { registerInsights } from "../../src/http/insights.ts";
import { registerJudge } from "../../src/http/judge.ts";
import { registerJudgeConnections } from "../../src/http/judge-connections.ts";
import { registerJudgePrices } from "../../src/http/judge-prices.ts";
import { registerJudgeSettings } from "../../src/http/judge-settings.ts";
import { registerJudging } from "../../src/http/judging.ts";
import { registerLaunches } from "../../src/http/launches.ts";
import { registerOutages } from "../../src/http/outages.ts";
import { registerRuns } from "../../src/http/runs.ts";
import { registerSampleTrace } from "../../src/http/sample-trace.ts";
import { registerTraceParts } from "../../src/http/trace-parts.ts";
import { registerTraces } from "../../src/http/traces.ts";
import type { IngestDeps } from "../../src/ingest.ts";
import { openOutbound } from "../../src/remote/outbound.ts";
import { EventPublisher } from "../../src/store/events.ts";
import { openVault } from "../../src/store/vault.ts";
import { TraceHost } from "../../src/trace-host.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

type Operation = {
  summary?: string;
  security?: object[];
  requestBody?: object;
  responses: Record<string, object>;
  parameters?: { name: string; in: string }[];
};
type Description = {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};

/** The routes that need more than a database; none of them is asked anything here. */
function extend(app: App, deps: Deps): void {
  const editor = new EditorHost({ config: readConfig({}), databaseUrl: "", log: deps.log as Logger });
  registerTraces(app, { ...deps, events: new EventPublisher(deps.db) });
  const reader = new TraceHost({ db: deps.db, databaseUrl: "", log: deps.log as Logger });
  registerTraceParts(app, { ...deps, reader });
  registerRuns(app, deps);
  registerJudging(app, deps);
  registerOutages(app, { ...deps, events: new EventPublisher(deps.db) });
  registerEditor(app, { ...deps, editor });
  registerInsights(app, deps);
  registerAgentConnections(app, {
    ...deps,
    vault: openVault(Buffer.alloc(32)),
    outbound: openOutbound({ allow: [] }),
  });
  registerJudge(app, {
    ...deps,
    environmentJudge: null,
    openTrialLine: () => Promise.reject(new Error("never asked")),
  });
  registerAccessTokens(app, deps);
  registerLaunches(app, {
    ...deps,
    events: new EventPublisher(deps.db),
    requireCallable: async () => {},
    onLaunch: () => {},
  });
  registerJudgeConnections(app, {
    ...deps,
    vault: openVault(Buffer.alloc(32)),
    environmentJudge: null,
    openTrialLine: () => Promise.reject(new Error("never asked")),
  });
  registerJudgePrices(app, deps);
  registerJudgeSettings(app, deps);
  registerSampleTrace(app, { ...deps, ingest: {} as IngestDeps });
}

let service: TestApp;
let described: Description;
before(async () => {
  service = await startTestApp({ extend });
  described = (await service.client().get("/api/openapi.json").expect(200)).body;
});
after(() => service.close());

test("every address under /api is described, with a summary, an answer and the shape of errors", () => {
  assert.match(described.openapi, /^3\.1/);
  const routes = service.app.routeTable.filter(
    ({ method, url }) => url.startsWith("/api/") && method !== "HEAD" && url !== "/api/openapi.json",
  );
  for (const { method, url } of routes) {
    const operation = described.paths[url.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
    assert.notEqual(operation, undefined, `${method} ${url} is not described`);
    assert.equal(typeof operation!.summary, "string");
    assert.match(Object.keys(operation!.responses)[0]!, /^20[014]$/);
    assert.notEqual(operation!.responses["default"], undefined);
    if (url.includes(":id")) {
      assert.deepEqual(
        operation!.parameters?.filter(parameter => parameter.in === "path").map(({ name }) => name),
        [...url.matchAll(/:(\w+)/g)].map(([, name]) => name),
      );
    }
  }
  const operations = Object.values(described.paths).flatMap(path => Object.values(path));
  assert.equal(operations.length, routes.length);
});

test("addresses that need no session say so", () => {
  assert.deepEqual(described.paths["/api/auth/sign-in/email"]?.["post"]?.security, []);
  assert.equal(described.paths["/api/projects"]?.["get"]?.security, undefined);
});

test("bodies of test cases are described field by field", () => {
  const body = JSON.stringify(described.paths["/api/agents/{id}/tests"]?.["post"]?.requestBody);
  for (const field of ["passiveBehavior", "scenario", "assertions", "json_schema"]) {
    assert.equal(body.includes(`"${field}"`), true, `${field} is missing`);
  }
});

test("every reference in the description leads somewhere", () => {
  const names = [...JSON.stringify(described).matchAll(/"\$ref":"([^"]*)"/g)].map(([, target]) => target!);
  assert.equal(names.length > 0, true);
  for (const name of names) {
    const schema = name.replace("#/components/schemas/", "");
    assert.notEqual(described.components.schemas[schema], undefined, `${name} leads nowhere`);
  }
  for (const schema of ["Agent", "Key", "Project", "TestCase", "Error"]) {
    assert.notEqual(described.components.schemas[schema], undefined);
  }
});
