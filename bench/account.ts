// An account of a running service, and what benchmarks need in it, made by the commands and requests of its users.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

export type BenchProject = { projectId: string; agentId: string; apiKey: string };

export type Account = {
  /** With an agent whose service has this name, a key with full access, and so many tests. */
  project(of: { serviceName: string; tests?: number; agent?: object }): Promise<BenchProject>;
  /** As the dashboard sends it. Throws unless the answer says it succeeded. */
  // biome-ignore lint/suspicious/noExplicitAny: of any request.
  send(method: string, path: string, body?: unknown): Promise<any>;
  cookie: string;
};

const password = "long enough to pass";

export async function openAccount(databaseUrl: string, url: string, isVerified = true): Promise<Account> {
  const email = `${crypto.randomUUID()}@bench.invalid`;
  const given = { email, password, project: "Bench", agent: "first" };
  await promisify(execFile)(
    process.execPath,
    [
      join(import.meta.dirname, "../src/bootstrap.ts"),
      ...Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]),
      ...(isVerified ? ["--verified"] : []),
    ],
    { env: { ...process.env, DATABASE_URL: databaseUrl } },
  );
  const headers: Record<string, string> = { origin: url };
  const request = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(url + path, {
      method,
      headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok)
      throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
    return answer;
  };
  const signedIn = await request("POST", "/api/auth/sign-in/email", { email, password });
  const cookie = signedIn.headers
    .getSetCookie()
    .map(one => one.split(";")[0])
    .join("; ");
  headers["cookie"] = cookie;
  const send: Account["send"] = async (...asked) => (await request(...asked)).json();
  return {
    send,
    cookie,
    async project({ serviceName, tests = 0, agent = {} }) {
      const { id: projectId } = await send("POST", "/api/projects", { name: serviceName });
      const { id: agentId } = await send("POST", `/api/projects/${projectId}/agents`, {
        ...{ name: serviceName, type: "http_api", otlpServiceName: serviceName },
      });
      if (Object.keys(agent).length > 0) await send("PATCH", `/api/agents/${agentId}`, agent);
      const key = await send("POST", `/api/projects/${projectId}/keys`, { name: "bench", access: "full" });
      for (let at = 0; at < tests; at++) await send("POST", `/api/agents/${agentId}/tests`, testCase(at));
      return { projectId, agentId, apiKey: key.key };
    },
  };
}

const assertions = [
  { type: "node_call", expected_name: "chat" },
  { type: "tool_call", expected_name: "lookup_order", expected_arguments: { order: { $gte: 1000 } } },
  { type: "token_limit", max_total: 100_000 },
  { type: "http_status", expected_status: "2xx" },
  { type: "response_time", max_ms: 2_000 },
  { type: "response_regex", pattern: "order \\d+", flags: "i" },
  {
    type: "json_match",
    target_node: "handle request",
    field: "http.response.status_code",
    expected_value: 200,
  },
];

/** A test with one assertion, cycling through the seven deterministic types. */
function testCase(at: number) {
  return {
    ...{ name: `Test ${at}`, status: "active", passiveBehavior: "always_run" },
    turns: [{ input: "Where is my order?" }],
    assertions: [assertions[at % assertions.length]],
  };
}

/** What `PUT /api/projects/:id/privacy` takes. */
export function privacyOf(builtIn: string[], rules: { name: string; pattern: string }[] = []) {
  return { builtIn, rules, pseudonyms: [], judgeRules: [], judgeSeesToolResults: true };
}

/** In Onlooker's own form. Resolves to its ID. */
export async function sendTrace(url: string, key: string, body: object): Promise<string> {
  const answer = await fetch(`${url}/public/traces`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`A trace was answered ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { traceId: string }).traceId;
}
