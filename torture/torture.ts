// One run: a PostgreSQL, nodes, clients and faults; then the check.
import { Random } from "../fuzz/random.ts";
import { account, bootstrapped, serviceName } from "../test/flow/processes.ts";
import { makeTest, newClient, type Owner } from "../test/support/app.ts";
import { startCluster } from "../test/support/cluster.ts";
import { type CheckReport, check, type StoredTrace } from "./checker.ts";
import { Client } from "./client.ts";
import { mountDisk } from "./disk.ts";
import { Ledger } from "./ledger.ts";
import { type Deeds, type Fault, Nemesis } from "./nemesis.ts";
import { Node } from "./node.ts";

export type TortureOptions = {
  seed: number;
  nodes: number;
  clients: number;
  faults: readonly Fault[];
  /** Faults happen until this resolves. */
  until: (ledger: Ledger, deeds: Deeds) => Promise<unknown>;
  say: (line: string) => void;
};

export type TortureReport = {
  report: CheckReport;
  ledger: Ledger;
  deeds: Deeds;
  /** How often a node ended without being killed. */
  crashes: number;
  seconds: number;
};

const diskMb = 2_048;

export async function torture({
  seed,
  faults,
  until,
  say,
  ...options
}: TortureOptions): Promise<TortureReport> {
  const disk = faults.includes("fill-disk") ? mountDisk(diskMb) : null;
  const cluster = await startCluster(disk?.folder);
  const nodes: Node[] = [];
  try {
    const env = { DATABASE_URL: cluster.url, SVC_DEBOUNCE_MS: "300", SVC_EVALUATORS: "1" };
    const made = await bootstrapped(env);
    for (let at = 0; at < options.nodes; at++)
      nodes.push(await Node.start(`node ${at + 1}`, cluster.url, env));
    const owner = { ...account, accountId: "", projectId: made.projectId, client: await signIn(nodes[0]!) };
    const tests = await makeTests(owner, made.agentId);

    const ledger = new Ledger();
    const clients = Array.from({ length: options.clients }, (_, at) => {
      const random = new Random(seed, "client", at);
      return new Client({ nodes, ledger, random, agentId: made.agentId, serviceName, key: made.apiKey });
    });
    const nemesis = new Nemesis({ nodes, cluster, disk, faults, random: new Random(seed, "nemesis", 0) });
    const started = performance.now();
    const sending = clients.map(client => client.run());
    const going = nemesis.run();
    await until(ledger, nemesis.deeds);
    nemesis.stop();
    await going;
    for (const client of clients) client.stop();
    await Promise.all(sending);
    const seconds = (performance.now() - started) / 1_000;

    say("Checking");
    for (const node of nodes) await node.restart();
    const client = await signIn(nodes[0]!);
    const report = await check({
      ...{ ledger, tests, agentId: made.agentId, databaseUrl: cluster.url },
      readTrace: async id => (await client.get(`/api/traces/${id}/raw`).expect(200)).body as StoredTrace,
    });
    const crashes = nodes.reduce((sum, node) => sum + node.crashes, 0);
    return { report, ledger, deeds: nemesis.deeds, crashes, seconds };
  } finally {
    for (const node of nodes) await node.stop();
    await cluster.stop();
    disk?.close();
  }
}

async function signIn({ url }: Node) {
  const client = newClient(url!);
  await client.post("/api/auth/sign-in/email", account).expect(200);
  return client;
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
