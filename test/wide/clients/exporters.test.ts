// Tests with OpenTelemetry's stock exporters for Python, Go and Node.js: traces arrive unaltered, and each prints what is wrong.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { openDatabase } from "../../../src/store/db.ts";
import { readPages } from "../../docs/pages.ts";
import { bootstrapped, type ServiceProcess, startProcess, stopProcess } from "../../flow/processes.ts";
import { makeAgent, makeKey } from "../../support/app.ts";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { serviceName, startTestService, type TestService } from "../../support/service.ts";
import { leftOut } from "../support/needs.ts";
import { needsOf, openSender, type Sender, type SenderName } from "../support/senders.ts";
import { assertUnaltered, type RawTrace, type Recorded, recordedIn } from "../support/sent-trace.ts";

const names: SenderName[] = ["Python", "Go", "Node.js"];

let service: TestService;
before(async () => {
  service = await startTestService({ config: { roles: ["http"] } });
});
after(() => service?.stop());

/** What a user sets. */
function settings(to: { url: string; key: string }): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${to.url}/public/traces`,
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: `x-api-key=${to.key}`,
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf",
    OTEL_SERVICE_NAME: serviceName,
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
  };
}

/** The phrase that each SDK prints for a wrong setting; docs/troubleshooting.md lists them. */
const wrongSettings: [what: string, env: () => Promise<Record<string, string>>, phrase: string][] = [
  [
    "a wrong key",
    async () => ({ OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x-api-key=svc_wrong" }),
    "401 Unauthorized: UNAUTHORIZED, Send a key created under Keys in the x-api-key header.",
  ],
  [
    "the other endpoint variable",
    async () => ({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "",
      OTEL_EXPORTER_OTLP_ENDPOINT: `${service.url}/public/traces`,
    }),
    "404 Not Found: NOT_FOUND, Set OTEL_EXPORTER_OTLP_TRACES_ENDPOINT to the URL that ends in /public/traces; exporters use it unchanged.",
  ],
  [
    "a service name that no agent has",
    async () => ({ OTEL_SERVICE_NAME: "nobody" }),
    "404 Not Found: OTLP_PLATFORM_NOT_FOUND, Set OTEL_SERVICE_NAME to an agent's OTLP service name, in the same upper and lower case.",
  ],
  [
    "no service name",
    async () => ({ OTEL_SERVICE_NAME: "" }),
    "404 Not Found: OTLP_PLATFORM_NOT_FOUND, The exporter sends its default name: set OTEL_SERVICE_NAME to the agent's OTLP service name.",
  ],
  [
    "a key without access to the agent",
    async () => {
      const other = await makeAgent(service.owner, { otlpServiceName: `other-${crypto.randomUUID()}` });
      const { key } = await makeKey(service.owner, { access: "granular", agentIds: [other.id] });
      return { OTEL_EXPORTER_OTLP_TRACES_HEADERS: `x-api-key=${key}` };
    },
    "403 Forbidden: OTLP_PLATFORM_NOT_ALLOWED, Use a key with access to this agent, or another service name.",
  ],
  [
    "a key of an account whose email is not verified",
    async () => {
      const owner = await service.signUp({ verified: false });
      const { key } = await makeKey(owner);
      return { OTEL_EXPORTER_OTLP_TRACES_HEADERS: `x-api-key=${key}` };
    },
    "403 Forbidden: EMAIL_NOT_VERIFIED, Open the link in the verification email, then send the trace again with the same key.",
  ],
  [
    "a batch of more than 30 MB",
    async () => ({ FILLING_BYTES: "31457280" }),
    "413 Payload Too Large: PAYLOAD_TOO_LARGE, Send smaller batches, such as 10 to 20 spans.",
  ],
];

/** The line that an SDK prints for such a phrase. */
const printed: Record<SenderName, (phrase: string) => string> = {
  Python: phrase => `Failed to export spans batch code: ${phrase.replace(" ", ", reason: ")}`,
  Go: phrase =>
    `traces export: failed to send to ${"http://localhost:4000/public/traces"}: ${phrase} (body: `,
  "Node.js": phrase => `"stack":"OTLPExporterError: ${phrase.replace(/^\d+ /, "")}`,
};

const docs = readPages().find(page => page.name === "docs/troubleshooting.md")!.text;

const skips = new Map<SenderName, string | false>();
for (const name of names) skips.set(name, await leftOut(...needsOf[name]));

for (const name of names) {
  suite(`the exporter of ${name}`, { skip: skips.get(name)! }, () => {
    const sender: Sender = openSender(name);
    let since: number;
    before(async () => {
      since = performance.now();
      await sender.prepare();
    });
    after(() => console.log(`${name}: ${((performance.now() - since) / 1000).toFixed(1)} s`));

    for (const compression of ["none", "gzip"]) {
      test(`sends a trace that arrives unaltered, compression ${compression}`, async () => {
        const { stdout, stderr } = await sender.run({
          ...settings(service),
          OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: compression,
        });
        assert.equal(stderr, "");
        const [sent] = recordedIn(stdout);
        assertUnaltered(name, (await rawTrace(sent!.traceId)) as RawTrace, sent!);
      });
    }

    for (const [what, env, phrase] of wrongSettings) {
      test(`says what is wrong: ${what}`, async () => {
        const changed = await env();
        const { stdout, stderr } = await sender.run(withChanges(settings(service), changed));
        const line = printed[name](phrase);
        assert.ok(withLocalhost(stderr).includes(line), `${line}\nis not in\n${stderr}`);
        assert.ok(docs.includes(phrase), `docs/troubleshooting.md does not list: ${phrase}`);
        assert.equal(await countStored(recordedIn(stdout)), 0);
      });
    }

    test("sends the spans of two services in one request: one is stored, the other rejected", async () => {
      const ONE_REQUEST_FROM = `${serviceName},nobody`;
      const { stdout, stderr } = await sender.run({ ...settings(service), ONE_REQUEST_FROM });
      const [known, unknown] = recordedIn(stdout);
      assert.deepEqual([await countStored([known!]), await countStored([unknown!])], [1, 0]);
      const said =
        "OTLP_PLATFORM_NOT_FOUND: 2 spans in 1 trace. The rejected services are listed in the project's ingestion log.";
      // Python's exporter does not read the response of a success.
      assert.equal(stderr.includes(said), name !== "Python", stderr);
      assert.ok(docs.includes("OTLP_PLATFORM_NOT_FOUND: 2 spans in 1 trace."));
    });
  });
}

test("docs/troubleshooting.md has the line of each SDK for a wrong key", () => {
  for (const name of names) {
    const line = printed[name](wrongSettings[0]![2]);
    assert.ok(docs.includes(line), `docs/troubleshooting.md does not have: ${line}`);
  }
});

suite("while the database is down", () => {
  let cluster: Cluster;
  let outage: ServiceProcess;
  let key: string;
  let since: number;
  before(async () => {
    since = performance.now();
    cluster = await startCluster();
    const env = { DATABASE_URL: cluster.url };
    key = (await bootstrapped(env)).apiKey;
    // At this level, the log has every request that was refused during an outage, not one a minute.
    outage = await startProcess({ ...env, SVC_ROLES: "http", SVC_LOG_LEVEL: "debug" });
  });
  after(async () => {
    assert.equal(await stopProcess(outage), 0);
    await cluster.stop();
    console.log(`database down: ${((performance.now() - since) / 1000).toFixed(1)} s`);
  });

  for (const name of names) {
    test(`the exporter of ${name} tries again, and nothing is lost`, { skip: skips.get(name)! }, async () => {
      const sender = openSender(name);
      await sender.prepare();
      await cluster.crash();
      const logged = outage.logs.length;
      const exported = sender.run(settings({ url: outage.url, key }));
      const isRefused = (line: string) => line.includes('"UNAVAILABLE"') && line.includes('"reqId"');
      await eventually(() => assert.ok(outage.logs.slice(logged).some(isRefused)));
      await cluster.resume();
      const { stdout, stderr } = await exported;
      const [{ traceId }] = recordedIn(stdout) as [Recorded];
      const db = openDatabase(cluster.url, 1);
      const { rows } = await db.pool.query("select span_count from traces where external_id = $1", [traceId]);
      await db.close();
      assert.deepEqual(rows, [{ span_count: 2 }], stderr);
      const retrying = "Transient error Service Unavailable";
      if (name === "Python") assert.ok(stderr.includes(retrying) && docs.includes(retrying), stderr);
      else assert.equal(stderr, "");
    });
  }
});

/** An empty value unsets the variable. */
function withChanges(env: Record<string, string>, changes: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries({ ...env, ...changes }).filter(([, value]) => value !== ""));
}

/** As in the docs; the path of a wrong endpoint is left out. */
function withLocalhost(text: string): string {
  return text
    .replaceAll(service.url, "http://localhost:4000")
    .replaceAll("/public/traces/v1/traces", "/public/traces");
}

async function countStored(traces: Recorded[]): Promise<number> {
  const { rows } = await service.db.pool.query("select from traces where external_id = any ($1)", [
    traces.map(({ traceId }) => traceId),
  ]);
  return rows.length;
}

async function rawTrace(traceId: string) {
  const { rows } = await service.db.pool.query("select id from traces where external_id = $1", [traceId]);
  assert.equal(rows.length, 1);
  const body = await service.client.read(`/api/traces/${rows[0].id as string}/raw`);
  return body;
}
