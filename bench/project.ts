// Creates a project to send traces to: a verified account, an agent, a key with full access, and tests.
import { randomUUID } from "node:crypto";
import { hashKey, makeKey } from "../src/model/key.ts";
import { parseTestCase } from "../src/model/test-case/test-case.ts";
import { insertAgent } from "../src/store/accounts/agents.ts";
import { insertKey } from "../src/store/accounts/keys.ts";
import { insertProject } from "../src/store/accounts/projects.ts";
import { openDatabase } from "../src/store/db.ts";
import { migrate } from "../src/store/migrate.ts";
import { insertTestCase } from "../src/store/test-cases.ts";

export type BenchProject = { agentId: string; apiKey: string };

export async function makeProject(
  databaseUrl: string,
  { serviceName, tests, conventions = [] }: { serviceName: string; tests: number; conventions?: string[] },
): Promise<BenchProject> {
  await migrate(databaseUrl);
  const db = openDatabase(databaseUrl, 2);
  const accountId = randomUUID();
  await db.pool.query(
    "insert into accounts (id, name, email, email_verified) values ($1, 'Bench', $2, true)",
    [accountId, `${accountId}@bench.invalid`],
  );
  const { id: projectId } = await insertProject(db, accountId, "Bench");
  const agent = await insertAgent(db, {
    projectId,
    name: serviceName,
    type: "http_api",
    otlpServiceName: serviceName,
    conventions,
  });
  const apiKey = makeKey();
  await insertKey(db, {
    projectId,
    name: "bench",
    hash: hashKey(apiKey),
    lastFour: apiKey.slice(-4),
    access: "full",
    agentIds: [],
    expiresAt: null,
    createdBy: null,
  });
  for (let index = 0; index < tests; index++) await insertTestCase(db, agent.id, testCase(index));
  await db.close();
  return { agentId: agent.id, apiKey };
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
function testCase(index: number) {
  return parseTestCase({
    name: `Test ${index}`,
    passiveBehavior: "always_run",
    turns: [{ input: "Where is my order?" }],
    assertions: [assertions[index % assertions.length]],
  });
}
