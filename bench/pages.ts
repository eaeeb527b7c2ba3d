// npm run bench -- pages: measures paint and input latency of the dashboard's screens, with the CPU slowed four times.
import type pg from "pg";
import { type CDPSession, chromium, type Page } from "playwright-core";
import { buildWhenNeeded } from "../scripts/build.ts";
import { findBrowser } from "../test/support/chromium.ts";
import { fill } from "./lists.ts";

const slowedTimes = 4;
const presses = 10;

export type PagesInput = { database: pg.Client; url: string; traces: number };

/** Returns lines to print. `url`: a service on this database. */
export async function pageTimes({ database, url, traces }: PagesInput): Promise<string[]> {
  const browserOptions = findBrowser();
  await buildWhenNeeded();
  const browser = await chromium.launch(browserOptions);
  try {
    const context = await browser.newContext({ baseURL: url, viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    const paths = await settle(page, { database, url, traces });
    const devtools = await context.newCDPSession(page);
    const lines = [
      `Pages among ${traces} traces, with the CPU slowed ${slowedTimes} times`,
      row("", ["paint ms", "input ms", "elements"]),
    ];
    for (const screen of paths) {
      const times: Measured[] = [];
      for (let round = 0; round < 3; round++) times.push(await measure(page, devtools, screen));
      const { paintedMs, answersMs, elements } = times.toSorted((a, b) => a.paintedMs - b.paintedMs)[1]!;
      const answers = answersMs === undefined ? "" : answersMs.toFixed(0);
      lines.push(row(screen.name, [paintedMs.toFixed(0), answers, String(elements)]));
    }
    return lines;
  } finally {
    await browser.close();
  }
}

type Measured = { paintedMs: number; answersMs: number | undefined; elements: number };

/** Opens a page: its largest contentful paint, the longest time from a key press to its paint, its number of elements. */
async function measure(page: Page, devtools: CDPSession, { path, key, field }: Screen): Promise<Measured> {
  await page.goto("about:blank");
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowedTimes });
  await page.goto(path);
  await page.waitForLoadState("networkidle");
  const paintedMs = await page.evaluate<number>(`new Promise(resolve =>
    new PerformanceObserver(list => resolve(list.getEntries().at(-1).startTime))
      .observe({ type: "largest-contentful-paint", buffered: true }))`);
  let answersMs: number | undefined;
  if (key !== undefined) {
    if (field !== undefined) await page.getByLabel(field, { exact: true }).focus();
    await page.evaluate(`globalThis.answers = [];
      new PerformanceObserver(list => globalThis.answers.push(...list.getEntries().map(entry => entry.duration)))
        .observe({ type: "event", durationThreshold: 16 })`);
    for (let press = 0; press < presses; press++) {
      await page.keyboard.press(key);
      await page.evaluate("new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve, 50)))");
    }
    // The browser does not report durations below a frame, 16 ms.
    answersMs = await page.evaluate<number>("Math.max(16, ...globalThis.answers)");
  }
  const elements = await page.evaluate<number>("document.querySelectorAll('*').length");
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  return { paintedMs, answersMs, elements };
}

/** `key` is pressed in the field of the label `field`, or on the page. */
type Screen = { name: string; path: string; key?: string; field?: string };

/** Signs up, creates an agent with all traces, a long one and a large one, and returns the screens to open. */
async function settle(page: Page, { database, url, traces }: PagesInput): Promise<Screen[]> {
  const account = { name: "Bench", email: "pages@bench.invalid", password: "long enough to pass" };
  await post(page, "/api/auth/sign-up/email", account);
  await database.query("update accounts set email_verified = true where email = $1", [account.email]);
  await post(page, "/api/auth/sign-in/email", account);
  const projectId = (await (await page.request.get("/api/projects")).json()).items[0].id as string;
  const agent = await post(page, `/api/projects/${projectId}/agents`, { name: "Pages", type: "http_api" });
  const made = await post(page, `/api/projects/${projectId}/keys`, { name: "Pages", access: "full" });
  const tests: { id: string }[] = [];
  for (let at = 0; at < 20; at++) tests.push(await post(page, `/api/agents/${agent.id}/tests`, testCase(at)));
  const many = await post(page, `/api/agents/${agent.id}/tests`, testCase(20, 100));
  const [dense, rare] = tests.map(test => test.id) as [string, string];
  await fill(database, { agentId: agent.id, dense, rare, traces });
  await fillHours(database, agent.id);
  const sent = (spans: unknown[]) => send(url, made.key, { platformId: agent.id, spans });
  const long = await sent(Array.from({ length: 10_000 }, (_, at) => span(at, "short")));
  const large = await sent(Array.from({ length: 30 }, (_, at) => span(at, "x".repeat(980_000))));
  const own = `/projects/${projectId}/agents/${agent.id}`;
  return [
    { name: "agents", path: `/projects/${projectId}/agents` },
    { name: "traces", path: `${own}/traces`, key: "j" },
    { name: "traces, a rare verdict", path: `${own}/traces?verdict=missing_instrumentation`, key: "j" },
    { name: "trace of 10,000 spans", path: `${own}/traces/${long}?view=spans&span=0`, key: "j" },
    { name: "trace of 30 MB", path: `${own}/traces/${large}?view=spans&span=0`, key: "j" },
    { name: "conversation of 30 MB", path: `${own}/traces/${large}?view=conversation` },
    { name: "test cases", path: `${own}/tests`, key: "j" },
    { name: "editor", path: `${own}/tests/${dense}`, key: "x", field: "Name" },
    { name: "editor, 100 assertions", path: `${own}/tests/${many.id}`, key: "x", field: "Name" },
    { name: "results of a test", path: `${own}/tests/${dense}/results` },
    { name: "insights, 30 days", path: `${own}/insights?range=30d` },
    { name: "get started", path: `${own}/start` },
    { name: "ingestion log", path: `/projects/${projectId}/ingestion` },
    { name: "keys", path: `/projects/${projectId}/keys` },
  ];
}

async function post(page: Page, path: string, data: unknown) {
  const answer = await page.request.post(path, { data });
  if (!answer.ok()) throw new Error(`${path} answered ${answer.status()}: ${await answer.text()}`);
  return answer.json();
}

async function send(url: string, key: string, body: unknown): Promise<string> {
  const answer = await fetch(`${url}/public/traces`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`a trace was answered ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { traceId: string }).traceId;
}

const begunNanos = BigInt(Date.now()) * 1_000_000n;

function span(at: number, content: string) {
  const start = begunNanos + BigInt(at) * 1_000_000n;
  return {
    span_id: String(at),
    parent_span_id: at === 0 ? null : String(Math.floor((at - 1) / 8)),
    name: `step ${at}`,
    start_time_unix_nano: String(start),
    end_time_unix_nano: String(start + 20_000_000n),
    attributes: {
      "gen_ai.request.model": "mistral-small-latest",
      "gen_ai.response.text": `${at} ${content}`,
    },
  };
}

function testCase(at: number, checks = 1) {
  const assertions = Array.from({ length: checks }, () => ({ type: "http_status", expected_status: "2xx" }));
  const turns = [{ input: "Where is my order?" }];
  return { name: `Test ${at}`, status: "active", passiveBehavior: "always_run", turns, assertions };
}

/** Inserts the hourly counts that the runs would have produced. */
async function fillHours(database: pg.Client, agentId: string): Promise<void> {
  await database.query(
    `insert into agent_hours
    select agent_id, date_trunc('hour', created_at, 'UTC'), count(*), count(*) filter (where verdict = 'passed'), 0, 0,
      count(*) filter (where verdict = 'missing_instrumentation'), 0, count(*) * 450, count(*) * 150,
      array[0, 0, 0, count(*)::int]
    from runs where agent_id = $1 group by 1, 2`,
    [agentId],
  );
}

function row(name: string, cells: string[]): string {
  return name.padEnd(28) + cells.map(cell => cell.padStart(12)).join("");
}
