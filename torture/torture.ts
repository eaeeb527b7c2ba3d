// One run: a PostgreSQL, nodes, clients and faults; then the check.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Random } from "../fuzz/random.ts";
import { account, bootstrapped, serviceName, startProcess, stopProcess } from "../test/flow/processes.ts";
import { makeTest, type Owner } from "../test/support/app.ts";
import type { Client as ApiClient } from "../test/support/client.ts";
import { newClient } from "../test/support/client.ts";
import { type CheckReport, check, type StoredTrace } from "./checker.ts";
import { Client } from "./client.ts";
import { removeFilesOfMovedClocks } from "./clock-library.ts";
import { openDatabase } from "./database.ts";
import { mountDisk } from "./disk.ts";
import type { Goals } from "./goals.ts";
import { Ledger } from "./ledger.ts";
import { type Deeds, type Fault, Nemesis } from "./nemesis.ts";
import { Node } from "./node.ts";

export type TortureOptions = {
  seed: number;
  nodes: number;
  clients: number;
  faults: readonly Fault[];
  /** Faults that have to happen often are chosen often. */
  goals?: Goals;
  /** Faults happen until this resolves. */
  until: (ledger: Ledger, deeds: Deeds) => Promise<unknown>;
  say: (line: string) => void;
  /** Ends the run without the check, or without the rest of it. */
  signal?: AbortSignal;
  /** Called with what was found, while the database is still there to be looked at. */
  onFindings?: (findings: string[], databaseUrl: string) => Promise<void>;
};

export type TortureReport = {
  report: CheckReport;
  ledger: Ledger;
  deeds: Deeds;
  /** How often a node ended without being killed. */
  crashes: number;
  seconds: number;
};

/** With room for two servers and their WAL. */
const diskMb = 12_288;

/** Undefined if it was ended without the check. */
export async function torture({
  seed,
  faults,
  goals = {},
  until,
  say,
  signal = new AbortController().signal,
  onFindings,
  ...options
}: TortureOptions): Promise<TortureReport | undefined> {
  const disk = faults.includes("fill-disk") ? mountDisk(diskMb) : null;
  const database = await openDatabase(disk?.folder, faults.includes("fail-over")).catch(error => {
    disk?.close();
    throw error;
  });
  const scratch = mkdtempSync(join(tmpdir(), "onlooker-torture-"));
  const nodes: Node[] = [];
  try {
    const env = {
      ...{ DATABASE_URL: database.url, SVC_DEBOUNCE_MS: "300", SVC_EVALUATORS: "1" },
      // Starting a node takes a quarter less CPU time.
      NODE_COMPILE_CACHE: scratch,
    };
    const made = await bootstrapped(env);
    // One that is killed leaves nothing in the cache.
    await stopProcess(await startProcess({ ...env, SVC_DATA_DIR: scratch }));
    for (let at = 0; at < options.nodes; at++)
      nodes.push(await Node.start(`node ${at + 1}`, database.url, env));
    const owner = { ...account, accountId: "", projectId: made.projectId, client: await signIn(nodes[0]!) };
    const tests = await makeTests(owner, made.agentId);

    const ledger = new Ledger();
    const sent = { nodes, ledger, agentId: made.agentId, serviceName, key: made.apiKey };
    const [saboteur, ...clients] = Array.from(
      { length: options.clients + 1 },
      (_, at) => new Client({ ...sent, random: new Random(seed, "client", at) }),
    );
    const nemesis = new Nemesis({
      ...{ nodes, database, disk, faults, goals, ledger, client: saboteur! },
      random: new Random(seed, "nemesis", 0),
    });
    const started = performance.now();
    const sending = clients.map(client => client.run());
    const going = nemesis.run();
    const stop = async () => {
      nemesis.stop();
      await going;
      await Promise.all([saboteur!, ...clients].map(client => client.stop()));
      await Promise.all(sending);
    };
    try {
      // What a client or the nemesis throws ends the run.
      await Promise.race([until(ledger, nemesis.deeds), Promise.all([going, ...sending])]);
    } catch (error) {
      await stop().catch(() => {});
      throw error;
    }
    await stop();
    const seconds = (performance.now() - started) / 1_000;

    if (signal.aborted) return undefined;
    say("Checking");
    const checking = async () => {
      for (const node of nodes) await node.restart();
      const readers = await Promise.all(nodes.map(signIn));
      return check({
        ...{ ledger, tests, agentId: made.agentId, databaseUrl: database.primaryUrl() },
        readTraces: readers.map(client => id => readTrace(client, id)),
      });
    };
    const ended = once(signal, "abort").then(() => undefined);
    const report = await Promise.race([checking(), ended]);
    if (!report) return undefined;
    if (report.findings.length > 0) await onFindings?.(report.findings, database.primaryUrl());
    const crashes = nodes.reduce((sum, node) => sum + node.crashes, 0);
    return { report, ledger, deeds: nemesis.deeds, crashes, seconds };
  } finally {
    for (const node of nodes) await node.stop();
    await database.stop();
    disk?.close();
    rmSync(scratch, { recursive: true, force: true });
    removeFilesOfMovedClocks();
  }
}

async function signIn({ url }: Node) {
  const client = newClient(url!);
  await client.post("/api/auth/sign-in/email", account).expect(200);
  return client;
}

/** As it is stored. Again while the service is busy with others. */
async function readTrace(client: ApiClient, id: string): Promise<StoredTrace> {
  for (;;) {
    const { status, body } = await client.get(`/api/traces/${id}/raw`);
    if (status === 200) return body;
    if (status !== 429 && status !== 503) throw new Error(`Reading a trace was answered ${status}: ${body}`);
    await delay(500);
  }
}

/** Two tests that apply to every trace, and two that never apply. */
async function makeTests(owner: Owner, agentId: string) {
  const make = async (name: string, fields: object) =>
    (await makeTest(owner, agentId, { name, ...fields })).id;
  const passing = { assertions: [{ type: "response_regex", pattern: "." }] };
  const lacking = { assertions: [{ type: "token_limit", max_total: 10 }] };
  return {
    eligible: [await make("Answers", passing), await make("Uses few tokens", lacking)],
    ineligible: [
      await make("Only by hand", { ...passing, passiveBehavior: "manual_only" }),
      await make("Disabled", { ...passing, status: "disabled" }),
    ],
  };
}
