// The app with every route of the service and no external services, for tests that must cover every endpoint.
import type { Logger } from "pino";
import { openEditor } from "../../src/editor.ts";
import { EventHub } from "../../src/http/events.ts";
import type { App, Deps } from "../../src/http/frame/deps.ts";
import { serviceRoutes } from "../../src/http/routes.ts";
import { Preparer } from "../../src/ingest/preparer.ts";
import { openOutbound } from "../../src/remote/outbound.ts";
import { Sandbox } from "../../src/remote/sandbox/sandbox.ts";
import { ThreadedTraceReader } from "../../src/service/threaded-trace-reader.ts";
import { findAgentsByIds, findAgentsByServiceName, serviceKey } from "../../src/store/accounts/agents.ts";
import { admitKeys } from "../../src/store/accounts/keys.ts";
import { findStoringRules } from "../../src/store/accounts/privacy.ts";
import type { OpenDatabase } from "../../src/store/db.ts";
import { EventPublisher } from "../../src/store/events.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { storeRecords } from "../../src/store/traces/records.ts";
import type { RecordsWrite } from "../../src/store/traces/waiting-records.ts";
import { TraceWriter } from "../../src/store/traces/writer.ts";
import { startTestApp, type TestApp } from "./app.ts";
import { openTestJudges } from "./judges.ts";
import { addressesOf } from "./postgres.ts";

/** Reads small traces, which need no thread. */
export const writerLimits = { debounceMs: 0, debounceCapMs: 0, traceSpansMax: 10, traceBytesMax: 1000 };

/** A folder that does not exist: the dashboard is not built. */
const noDashboard = "no dashboard";

/** Without a judge and without events; every agent counts as callable, and launches never run. */
export async function startWholeApp(): Promise<TestApp> {
  const closing: (() => Promise<unknown>)[] = [];
  function extend(app: App, deps: Deps): void {
    const { db } = deps;
    const events = new EventPublisher(db);
    const preparer = new Preparer({
      limits: { nestingMax: 200, spansMax: 100, tracesMax: 100, elementsMax: 10_000 },
    });
    const outbound = openOutbound({ allow: [] });
    const sandbox = new Sandbox();
    const vault = openVault(Buffer.alloc(32));
    const none = async () => undefined;
    const databaseUrl = ((db as OpenDatabase).pool.options as { connectionString: string }).connectionString;
    const reader = new ThreadedTraceReader({
      db,
      addresses: addressesOf(databaseUrl),
      log: deps.log as Logger,
    });
    closing.push(() => reader.close());
    const ingest = {
      findKey: async (hash: string) => (await admitKeys(db, vault, [Buffer.from(hash, "hex")])).get(hash),
      findStoring: (projectId: string) => findStoringRules(db, vault, projectId),
      findAgent: async (id: string) => (await findAgentsByIds(db, [id])).get(id),
      requireRoom: async () => {},
      findAgentByServiceName: async (projectId: string, serviceName: string) =>
        (await findAgentsByServiceName(db, [{ projectId, serviceName }])).get(
          serviceKey(projectId, serviceName),
        ),
      listAgentsOfKey: async () => [],
      preparer,
      writer: new TraceWriter(db, writerLimits),
      onStored: () => {},
      onAnswered: () => {},
    };
    const whole = {
      ...deps,
      events,
      hub: new EventHub(),
      reader,
      editor: openEditor({ db, judgeOf: openTestJudges(db, null).judgeOf, sandbox }),
      vault,
      outbound,
      environmentJudge: null,
      judgeTimeoutMs: 60_000,
      openProbe: () => Promise.reject(new Error("never asked")),
      requireCallable: none,
      onLaunch: () => {},
      onAlert: () => {},
      erasures: { wake: () => {}, holders: async () => ({ tests: [], notes: [], views: [], more: false }) },
      retention: { wake: () => {} },
      judgeDeadlineMs: 900_000,
      ingest,
      ingestLogs: {
        ...ingest,
        storeRecords: (writes: RecordsWrite[]) => storeRecords(db, writes, writerLimits),
        onJoined: () => {},
        onDropped: () => {},
      },
    };
    for (const register of serviceRoutes(noDashboard)) void register(app, whole);
    closing.push(
      () => events.close(),
      () => outbound.close(),
      () => sandbox.close(),
      () => preparer.close(),
    );
  }
  const app = await startTestApp({ extend });
  return {
    ...app,
    async close() {
      for (const close of closing) await close();
      await app.close();
    },
  };
}
