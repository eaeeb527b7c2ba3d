// Requests made to be costly, and what a neighbor notices of them: another tenant that sends a small trace every 250 ms.
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Account, type BenchProject, openAccount, privacyOf, sendTrace } from "./account.ts";
import type { Figures, Given, Parts } from "./benchmark.ts";
import { quantile } from "./figures.ts";
import type { Child } from "./processes.ts";
import { hasQueue, openStand } from "./stand.ts";

type Sent = { method?: string; path: string; headers?: Record<string, string>; body: string | Buffer };

type Attacker = { url: string; verified: Account; unverified: Account };

type Attack = {
  connections: number;
  /** Each connection sends them in turn until the time is over; with `isOnce`, each is sent once. */
  isOnce?: boolean;
  requests(from: Attacker): Promise<Sent[]>;
};

const settleMs = 60_000;

/** The first part is the neighbor alone, then each attack whose name has the word. */
export async function openAttacks(given: Given, word: string): Promise<Parts> {
  const stand = await openStand(given);
  const pauses = new URL("./pauses.ts", import.meta.url).href;
  const env = { SVC_ROLES: "http,worker", SVC_EVALUATORS: "1", SVC_DEBOUNCE_MS: "100" };
  const { service, url } = await stand.startService(env, [`--import=${pauses}`]);
  const open = (isVerified: boolean) => openAccount(stand.databaseUrl, url, isVerified);
  // All at once: the first attack uses up the sign-ins of this address.
  const attacker = { url, verified: await open(true), unverified: await open(false) };
  const neighbor = await (await open(true)).project({ serviceName: "neighbor", tests: 1 });
  const measure = async (name: string, attack?: Attack): Promise<Figures> => {
    const requests = attack ? await attack.requests(attacker) : [];
    await longestPause(service);
    const began = new Date();
    const isDone = new AbortController();
    const posting = post(url, neighbor, isDone.signal);
    const sending = attack && send(url, attack, requests, given.seconds);
    // At least, since verdicts are waited for when all was sent.
    await Promise.all([sending, sleep(given.seconds * 1_000)]);
    isDone.abort();
    const posts = await posting;
    const pauseMs = await longestPause(service);
    const verdicts = await verdictsSince(began);
    return {
      [`${name}: POST p95 ms`]: quantile(
        posts.map(({ ms }) => ms),
        0.95,
      ),
      [`${name}: verdict p95 ms`]: quantile(verdicts, 0.95),
      [`${name}: answers other than 201`]: posts.filter(({ isFine }) => !isFine).length,
      [`${name}: longest pause ms`]: pauseMs,
    };
  };
  /** From when a trace was stored to the end of its run, in ms; then the attacker's runs go. */
  const verdictsSince = async (began: Date): Promise<number[]> => {
    // A commit without a queue has what is open among the runs.
    const open = (await hasQueue(stand.database)) ? "queue" : "runs";
    const until = Date.now() + settleMs;
    for (;;) {
      const { rows } = await stand.database.query<{ ms: number; open: boolean }>(
        `select extract(epoch from coalesce(finished_at, now()) - created_at)::float8 * 1000 as ms,
          finished_at is null as open
        from (
          select id, agent_id, created_at, finished_at from runs
          union select id, agent_id, created_at, null from ${open} where state in ('pending', 'running')
        ) stored where agent_id = $1 and created_at >= $2`,
        [neighbor.agentId, began],
      );
      if (rows.every(({ open }) => !open) || Date.now() > until) {
        await stand.database.query(`delete from ${open} where state = 'pending'`);
        return rows.map(({ ms }) => ms);
      }
      await sleep(500);
    }
  };
  const chosen = Object.entries(attacks).filter(([name]) => name.includes(word));
  return [
    () => measure("alone"),
    ...chosen.map(
      ([name, attack]) =>
        () =>
          measure(name, attack),
    ),
  ];
}

/** In ms, since it was asked last. */
async function longestPause({ process, nextLine }: Child): Promise<number> {
  process.kill("SIGUSR2");
  for (;;) {
    const { longestPauseMs } = JSON.parse(await nextLine()) as { longestPauseMs?: number };
    if (longestPauseMs !== undefined) return longestPauseMs;
  }
}
async function post(url: string, { apiKey, agentId }: BenchProject, signal: AbortSignal) {
  const body = { platformId: agentId, spans: [{ span_id: "1", name: "answer", attributes: { a: "b" } }] };
  const posts: Promise<{ ms: number; isFine: boolean }>[] = [];
  while (!signal.aborted) {
    const begun = performance.now();
    const sent = sendTrace(url, apiKey, body).then(
      () => true,
      () => false,
    );
    posts.push(sent.then(isFine => ({ ms: performance.now() - begun, isFine })));
    await sleep(250);
  }
  return Promise.all(posts);
}

async function send(url: string, attack: Attack, requests: Sent[], seconds: number): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const until = performance.now() + seconds * 1_000;
  let at = 0;
  const work = async () => {
    while (attack.isOnce ? at < requests.length : performance.now() < until) {
      const sent = requests[at++ % requests.length]!;
      await (sent.path === rawPath ? sendRaw(url, sent.body) : sendOne(url, agent, sent)).catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: attack.connections }, work));
  agent.destroy();
}

function sendOne(url: string, agent: Agent, { method = "POST", path, headers, body }: Sent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url + path, {
      ...{ method, agent },
      headers: {
        ...{ origin: url, "content-type": "application/json", "content-length": Buffer.byteLength(body) },
        ...headers,
      },
    });
    sent.on("response", answer => answer.on("end", resolve).on("error", reject).resume());
    sent.on("error", reject).end(body);
  });
}

const rawPath = "no path: the body is all that is sent";

function sendRaw(url: string, packet: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const { port, hostname } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket
      .on("error", reject)
      .on("close", () => resolve())
      .resume()
      .end(packet);
  });
}

const json = (body: unknown) => JSON.stringify(body);
const span = (attributes: object = {}, id = "1") => ({ span_id: id, name: "step", attributes });

type Judged = BenchProject & { serviceName: string };

/** A project whose agent has so many tests of so many checks. */
async function judged(account: Account, tests = 0, checks = 0): Promise<Judged> {
  const serviceName = crypto.randomUUID();
  const project = await account.project({ serviceName });
  const assertions = Array.from({ length: checks }, (_, at) => ({
    type: "node_call",
    expected_name: `s${at}`,
  }));
  for (let at = 0; at < tests; at++) {
    const run = { status: "active", passiveBehavior: "always_run", turns: [{ input: "Where is my order?" }] };
    const test = { name: `Test ${at}`, ...run, assertions };
    await account.send("POST", `/api/agents/${project.agentId}/tests`, test);
  }
  return { ...project, serviceName };
}

const trace = ({ apiKey, agentId }: BenchProject, spans: object[]): Sent => ({
  ...{ path: "/public/traces", headers: { "x-api-key": apiKey } },
  body: json({ platformId: agentId, spans }),
});

const hex = (bytes: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("hex");
const resourceOf = (name: string) => ({
  attributes: [{ key: "service.name", value: { stringValue: name } }],
});

/** An export of traces of one span, as short as they can be. */
function manyTraces({ apiKey, serviceName }: Judged, traces: number): Sent {
  const spans = Array.from({ length: traces }, () => ({
    ...{ traceId: hex(16), spanId: hex(8), name: "a", startTimeUnixNano: "1", endTimeUnixNano: "2" },
  }));
  return {
    ...{ path: "/public/traces", headers: { "x-api-key": apiKey } },
    body: json({ resourceSpans: [{ resource: resourceOf(serviceName), scopeSpans: [{ spans }] }] }),
  };
}

const attacks: Record<string, Attack> = {
  "sign-in with 1 MB": {
    connections: 2,
    requests: async () => {
      const body = `{"email":"a@b.invalid","password":"x","a":[${"{},".repeat(340_000)}{}]}`;
      return [{ path: "/api/auth/sign-in/email", body }];
    },
  },
  "60 KB of invalid HTTP": {
    connections: 1,
    requests: async () => [{ path: rawPath, body: `NO! /${"a".repeat(60_000)}` }],
  },
  "tests of 8 MB": {
    connections: 2,
    requests: async ({ unverified }) => {
      const { agentId } = await judged(unverified);
      const numbers = Array.from({ length: 13_000 }, (_, at) => at);
      const check = { type: "tool_call", expected_name: "a", expected_arguments: { numbers } };
      const test = { name: "Large", status: "disabled", assertions: Array(100).fill(check) };
      const headers = { cookie: unverified.cookie };
      return [{ path: `/api/agents/${agentId}/tests/validate`, headers, body: json(test) }];
    },
  },
  "own rules": {
    connections: 2,
    requests: async ({ verified }) => {
      const project = await judged(verified);
      const rules = [{ name: "far", pattern: "a[^b]*b|a" }];
      await verified.send("PUT", `/api/projects/${project.projectId}/privacy`, privacyOf([], rules));
      return [trace(project, [span({ text: "a".repeat(60_000) })])];
    },
  },
  "four exports of 10,000 traces": {
    ...{ connections: 4, isOnce: true },
    requests: async ({ verified }) => {
      const project = await judged(verified, 5, 20);
      return Array.from({ length: 4 }, () => manyTraces(project, 10_000));
    },
  },
  "64 connections of small traces": {
    connections: 64,
    requests: async ({ verified }) => [trace(await judged(verified, 5, 20), [span()])],
  },
  "65 traces of 6,000 tool calls": {
    ...{ connections: 4, isOnce: true },
    requests: async ({ verified }) => {
      const call = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "a" };
      const spans = Array.from({ length: 6_000 }, (_, at) => span(call, `${at}`));
      const one = trace(await judged(verified, 20, 20), spans);
      return Array<Sent>(65).fill(one);
    },
  },
  "400 tests of 100 checks": {
    connections: 4,
    requests: async ({ verified }) => [trace(await judged(verified, 400, 100), [span()])],
  },
  "250 KB of nested lists": {
    connections: 4,
    requests: async ({ verified }) => {
      const nested = `${"[".repeat(99)}${"]".repeat(99)}`;
      const { apiKey, agentId } = await judged(verified);
      const value = `[${Array(1_250).fill(nested)}]`;
      const headers = { "x-api-key": apiKey };
      const spans = `[{"span_id":"1","name":"a","attributes":{"a":${value}}}]`;
      return [{ path: "/public/traces", headers, body: `{"platformId":"${agentId}","spans":${spans}}` }];
    },
  },
  "200 log records on 40 connections": {
    connections: 40,
    requests: async ({ verified }) => {
      const { apiKey, serviceName } = await judged(verified);
      const logRecords = Array.from({ length: 200 }, () => ({
        ...{ traceId: hex(16), spanId: hex(8), timeUnixNano: "1", eventName: "gen_ai.user.message" },
        body: { stringValue: "Where is my order?" },
      }));
      const body = { resourceLogs: [{ resource: resourceOf(serviceName), scopeLogs: [{ logRecords }] }] };
      return [{ path: "/public/logs", headers: { "x-api-key": apiKey }, body: json(body) }];
    },
  },
  "conventions of 12,000 traces": {
    connections: 2,
    requests: async ({ url, verified }) => {
      const project = await judged(verified);
      for (let at = 0; at < 2; at++) await sendOne(url, new Agent(), manyTraces(project, 6_000));
      const to = {
        path: `/api/agents/${project.agentId}`,
        method: "PATCH",
        headers: { cookie: verified.cookie },
      };
      return [["*"], []].map(conventions => ({ ...to, body: json({ conventions }) }));
    },
  },
};
