// Paint and input latency of the dashboard's screens, with the CPU slowed four times.
import type pg from "pg";
import { type CDPSession, chromium, type Page } from "playwright-core";
import { buildWhenNeeded } from "../scripts/build.ts";
import { findBrowser } from "../test/support/chromium.ts";
import { type Account, openAccount, sendTrace } from "./account.ts";
import type { Given, Parts } from "./benchmark.ts";
import { fill, tracesOf } from "./fill-traces.ts";
import { openStand } from "./stand.ts";

const slowedTimes = 4;
const presses = 10;

export async function open(given: Given): Promise<Parts> {
  const browserOptions = findBrowser();
  await buildWhenNeeded();
  const stand = await openStand(given);
  const env = { SVC_ROLES: "http,worker", SVC_DEBOUNCE_MS: "0", SVC_DATA_DIR: stand.dataDir };
  const { url } = await stand.startService(env);
  const account = await openAccount(stand.databaseUrl, url);
  const screens = await settle(stand.database, { account, url, traces: tracesOf(given, 20_000) });
  const browser = await chromium.launch(browserOptions);
  given.onClose(() => browser.close());
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1440, height: 900 } });
  const [name, ...value] = account.cookie.split("=") as [string, ...string[]];
  await context.addCookies([{ name, value: value.join("="), url }]);
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  return screens.map(screen => async () => {
    const { paintedMs, answersMs, elements } = await measure(page, devtools, screen);
    return {
      [`${screen.name}: paint ms`]: paintedMs,
      ...(answersMs !== undefined && { [`${screen.name}: input ms`]: answersMs }),
      [`${screen.name}: elements`]: elements,
    };
  });
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
    if (field !== undefined) await focus(page, field);
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

/** Fields are in sections that a button opens. */
async function focus(page: Page, field: string): Promise<void> {
  const input = page.getByLabel(field, { exact: true });
  if (!(await input.isVisible())) await page.getByRole("button", { name: new RegExp(`^${field}`) }).click();
  await input.focus();
}

/** `key` is pressed in the field of the label `field`, or on the page. */
type Screen = { name: string; path: string; key?: string; field?: string };

type Settling = { account: Account; url: string; traces: number };

/** Makes an agent with all traces, a long one and a large one, and returns the screens to open. */
async function settle(database: pg.Client, { account, url, traces }: Settling): Promise<Screen[]> {
  const { projectId, agentId, apiKey } = await account.project({ serviceName: "pages", tests: 20 });
  const { items } = await account.send("GET", `/api/agents/${agentId}/tests`);
  const [dense, rare] = (items as { id: string }[]).map(test => test.id) as [string, string];
  const many = await account.send("POST", `/api/agents/${agentId}/tests`, testOf(100));
  await fill(database, { agentId, dense, rare, traces });
  const sent = (spans: unknown[]) => sendTrace(url, apiKey, { platformId: agentId, spans });
  const long = await sent(Array.from({ length: 10_000 }, (_, at) => span(at, "short")));
  const large = await sent(Array.from({ length: 30 }, (_, at) => span(at, "x".repeat(980_000))));
  const own = `/projects/${projectId}/agents/${agentId}`;
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

function testOf(checks: number) {
  const assertions = Array.from({ length: checks }, () => ({ type: "http_status", expected_status: "2xx" }));
  const turns = [{ input: "Where is my order?" }];
  return { name: "Many assertions", status: "active", passiveBehavior: "always_run", turns, assertions };
}
