// How long the pages of lists take among an agent's traces, for each filter, and its overview: requests of one client.
import { createHash } from "node:crypto";
import { openAccount } from "./account.ts";
import type { Given, Parts } from "./benchmark.ts";
import { median } from "./figures.ts";
import { fill, tracesOf } from "./fill-traces.ts";
import { openStand } from "./stand.ts";

const firstPages = 20;
const pagesMax = 2_000;

type Page = { items?: unknown[]; nextCursor?: string | null };

export async function open(given: Given): Promise<Parts> {
  const stand = await openStand(given);
  const { url } = await stand.startService();
  const account = await openAccount(stand.databaseUrl, url);
  const { agentId } = await account.project({ serviceName: "listed", tests: 2 });
  const tests = await account.send("GET", `/api/agents/${agentId}/tests`);
  const [dense, rare] = (tests.items as { id: string }[]).map(({ id }) => id) as [string, string];
  const traces = tracesOf(given, 100_000);
  const begun = performance.now();
  await fill(stand.database, { agentId, dense, rare, traces });
  console.log(
    `${traces} traces with a run each, made in ${((performance.now() - begun) / 1_000).toFixed(0)} s`,
  );
  const turns = await account.send(
    "GET",
    `/api/agents/${agentId}/conversation?conversationId=giant&from=end&limit=1`,
  );
  const cases = casesOf({ agentId, dense, rare, traces, turn: turns.items[0].traceId ?? turns.items[0].id });
  return cases.map(([name, path]) => async () => {
    const times: number[] = [];
    for (let page = 0; page < firstPages; page++) {
      const begun = performance.now();
      await account.send("GET", path);
      times.push(performance.now() - begun);
    }
    const { pages, ms } = await toFullPage(path, account.send);
    return {
      [`${name}: ms`]: median(times),
      ...(pages > 1 && { [`${name}: pages to a full one`]: pages, [`${name}: ms to a full one`]: ms }),
    };
  });
}

/** Follows the cursors until 50 are found or the list ends. */
async function toFullPage(path: string, send: (method: string, path: string) => Promise<Page>) {
  const begun = performance.now();
  let [found, pages] = [0, 0];
  let cursor: string | null | undefined = "";
  while (cursor != null && found < 50 && pages < pagesMax) {
    const page: Page = await send("GET", cursor === "" ? path : `${path}&cursor=${cursor}`);
    found += page.items?.length ?? 0;
    pages++;
    cursor = page.nextCursor;
  }
  return { pages, ms: performance.now() - begun };
}

/** "rare": one in 100,000. */
function casesOf({
  agentId,
  dense,
  rare,
  traces,
  turn,
}: Record<string, string | number>): [string, string][] {
  const agent = `/api/agents/${agentId}`;
  const md5 = (text: string) => createHash("md5").update(text).digest("hex");
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3.6e6).toISOString();
  const filters: [string, string][] = [
    ["no filter", ""],
    ["kind, rare", "kind=test_run"],
    ["path, none", "path=canonical"],
    ["state=pending, none", "state=pending"],
    ["state=error, rare", "state=error"],
    ["state=none, none", "state=none"],
    ["verdict, most", "verdict=passed"],
    ["verdict, rare", "verdict=missing_instrumentation"],
    ["verdict, none", "verdict=skipped"],
    ["routing, rare", "routing=unavailable"],
    ["routing, none", "routing=ok"],
    ["failed, rare", "failed=true"],
    ["failed and verdict, none", "failed=true&verdict=passed"],
    ["httpStatus, rare", "httpStatus=503"],
    ["httpStatus, none", "httpStatus=418"],
    ["externalId, one", `externalId=x${Math.floor(Number(traces) / 2)}`],
    ["externalId, none", "externalId=absent"],
    ["testId, most", `testId=${dense}`],
    ["testId, rare", `testId=${rare}`],
    ["testOutcome, most", `testId=${dense}&testOutcome=passed`],
    ["testOutcome, rare", `testId=${rare}&testOutcome=missing_instrumentation`],
    ["testOutcome, none", `testId=${dense}&testOutcome=failed`],
    ["testVersion, most", `testId=${dense}&testVersion=2`],
    ["testVersion, rare", `testId=${rare}&testVersion=1`],
    ["testVersion and testOutcome, none", `testId=${dense}&testVersion=1&testOutcome=failed`],
    ["tool, most", "tool=find_order"],
    ["tool, rare", "tool=refund"],
    ["tool, none", "tool=absent"],
    ["tool, most, and verdict, none", "tool=find_order&verdict=failed"],
    ["model, most", "model=large"],
    ["model, rare", "model=small"],
    ["tool, most, and model, rare", "tool=find_order&model=small"],
    ["checkType, most", "checkType=node_call"],
    ["checkType, rare", "checkType=tool_call"],
    ["checkType and verdict, none", "checkType=node_call&verdict=failed"],
    ["an hour, half a month ago", `receivedFrom=${hoursAgo(361)}&receivedTo=${hoursAgo(360)}`],
    ["durationMinMs, rare", "durationMinMs=60000"],
    ["tokensMin, none", "tokensMin=1000000"],
    ["text, rare", "text=unicorn"],
    ["text, none", "text=basilisk"],
    ["order=longest", "order=longest"],
    ["order=most_tokens, tool, most", "order=most_tokens&tool=find_order"],
    ["order=longest, tool, rare", "order=longest&tool=refund"],
    ["order=most_expensive", "order=most_expensive"],
    ["order=most_expensive, tool, most", "order=most_expensive&tool=find_order"],
    ["conversationId, five traces", `conversationId=${md5("0")}`],
    ["conversationId, a tenth of all", "conversationId=giant"],
    ["conversationId, none", "conversationId=absent"],
    ["userId, a ten-thousandth", `userId=${md5("0user")}`],
  ];
  return [
    ...filters.map(([name, query]): [string, string] => [name, `${agent}/traces?limit=50&${query}`]),
    ["runs of a test, most", `/api/tests/${dense}/runs?limit=50`],
    ["runs of a test, rare", `/api/tests/${rare}/runs?limit=50`],
    ["runs by outcome, most", `/api/tests/${dense}/runs?limit=50&outcome=passed`],
    ["runs by outcome, none", `/api/tests/${dense}/runs?limit=50&outcome=failed`],
    ["runs by outcome, rare", `/api/tests/${rare}/runs?limit=50&outcome=missing_instrumentation`],
    ["conversations", `${agent}/conversations?limit=50`],
    ["conversations of test runs", `${agent}/conversations?limit=50&kind=test_run`],
    ["conversation of a tenth of all, its last turns", `${agent}/conversation?conversationId=giant&from=end`],
    ["a trace's place in it", `/api/traces/${turn}/turn`],
    ["overview", `${agent}/overview`],
  ];
}
