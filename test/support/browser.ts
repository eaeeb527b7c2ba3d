// A real browser on the dashboard of a real service, and checks that apply to every page.
import assert from "node:assert/strict";
import { after, afterEach, before } from "node:test";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { findBrowser } from "./chromium.ts";
import { eventually } from "./eventually.ts";
import { startTestService, type TestService, type TestServiceOptions } from "./service.ts";

export type TestBrowser = {
  service: TestService;
  /** The origin that the browser opens, and that links in emails have. */
  origin: string;
  /** A window of its own, without a session. At the end of the test it is closed, or prepared for another test. */
  open(options?: WindowOptions): Promise<Window>;
  /** The same with a session of the account, opened on this path of the dashboard if one is given. */
  openAs(
    account: { email: string; password: string },
    options?: WindowOptions & { path?: string },
  ): Promise<Window>;
};

type ClosableBrowser = TestBrowser & { close(): Promise<void> };

type WindowOptions = {
  viewport?: { width: number; height: number };
  baseURL?: string;
  /** For a window that several tests use: it is left alone when one of them ends. */
  lasting?: boolean;
};

export type Window = {
  page: Page;
  context: BrowserContext;
  /** Everything the browser logged as an error so far: violations of the policy, scripts, failed assets. */
  complaints: string[];
};

/** How to clean up the windows of the current test. */
const atEndOfTest: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of atEndOfTest.splice(0)) await end();
});

const shared = new Map<unknown, Promise<ClosableBrowser>>();

/** Services start once all files are loaded, one after the other: on a busy machine their connections time out else. */
let turn: Promise<unknown> = new Promise(resolve => setImmediate(resolve));

/**
 * A service and a browser for all tests of this process, started before the first of them. Those that ask for the same
 * options share a service; a function's options are its own. A `before` that needs them waits for `started`.
 */
export function useBrowser(
  options: TestServiceOptions | (() => Promise<TestServiceOptions>) = {},
): TestBrowser & { started: Promise<unknown> } {
  const key = typeof options === "function" ? options : JSON.stringify(options);
  const start = async () => startTestBrowser(typeof options === "function" ? await options() : options);
  const started = shared.get(key) ?? turn.then(start);
  shared.set(key, started);
  turn = started.catch(() => {});
  let own: ClosableBrowser;
  const ready = started.then(browser => {
    own = browser;
  });
  before(() => ready);
  after(() => own?.close());
  return {
    started: ready,
    get service() {
      return own.service;
    },
    get origin() {
      return own.origin;
    },
    open: options => own.open(options),
    openAs: (account, options) => own.openAs(account, options),
  };
}

/** The only Chromium of this process, and how many services use it. */
let chromiumRunning: Promise<Browser> | undefined;
let users = 0;

/** Throws if there is no browser. The options are the service's. */
export async function startTestBrowser(options: TestServiceOptions = {}): Promise<ClosableBrowser> {
  const browserOptions = findBrowser();
  const service = await startTestService(options);
  users++;
  // SIGTERM ends this process, and Chromium with it: Playwright would close the browser under tests that go on.
  chromiumRunning ??= chromium.launch({ ...browserOptions, handleSIGTERM: false });
  const browser = await chromiumRunning;
  const origin = `http://localhost:${new URL(service.url).port}`;
  const idle: Page[] = [];

  async function open({
    viewport = { width: 1280, height: 720 },
    baseURL,
    lasting = false,
  }: WindowOptions = {}): Promise<Window> {
    const page = (baseURL === undefined && idle.pop()) || (await newPage(browser, baseURL ?? origin));
    await page.setViewportSize(viewport);
    if (!lasting) {
      atEndOfTest.push(async () => {
        if (baseURL === undefined && (await makeLikeNew(page))) idle.push(page);
        else await page.context().close();
      });
    }
    return { page, context: page.context(), complaints: listenForComplaints(page) };
  }
  let closed: Promise<void> | undefined;
  async function close(): Promise<void> {
    if (--users === 0) {
      await browser.close();
      chromiumRunning = undefined;
    }
    await service.stop();
  }
  return {
    service,
    origin,
    open,
    async openAs(account, { path, ...options } = {}) {
      const window = await open(options);
      await signIn(window.page, account);
      if (path !== undefined) await window.page.goto(path);
      return window;
    },
    close: () => (closed ??= close()),
  };
}

async function newPage(browser: Browser, baseURL: string): Promise<Page> {
  const context = await browser.newContext({ baseURL, reducedMotion: "reduce" });
  context.setDefaultTimeout(30_000);
  return context.newPage();
}

/**
 * Removes all that a test left in a page but the HTTP cache, and tells whether that worked. A new window takes 1.1 s of
 * a core until it shows the dashboard, a page that was used before 0.4 s.
 */
async function makeLikeNew(page: Page): Promise<boolean> {
  try {
    const context = page.context();
    for (const other of context.pages()) if (other !== page) await other.close();
    for (const event of ["console", "dialog", "pageerror", "request"]) page.removeAllListeners(event);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await context.clearCookies();
    await context.clearPermissions();
    if (page.url() !== "about:blank") await page.evaluate("localStorage.clear(); sessionStorage.clear()");
    await page.goto("about:blank");
    await page.mouse.move(0, 0);
    await page.emulateMedia({ colorScheme: null, forcedColors: null, media: null, reducedMotion: "reduce" });
    return true;
  } catch {
    return false; // the test closed it, or left it where nothing can be evaluated
  }
}

function listenForComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on("pageerror", error => complaints.push(`script: ${error.message}`));
  page.on("console", message => {
    const refused = /the server responded with a status of (?:4\d\d|503)/.test(message.text());
    if (message.type() === "error" && !refused) complaints.push(message.text());
  });
  return complaints;
}

/** Signs the page's context in. The page stays where it is. */
export async function signIn(page: Page, account: { email: string; password: string }): Promise<void> {
  const { email, password } = account;
  const answer = await page.context().request.post("/api/auth/sign-in/email", { data: { email, password } });
  assert.equal(answer.status(), 200, await answer.text());
}

/** Signs in with the form, as a person does, and waits for the agents. */
export async function signInByForm(page: Page, account: { email: string; password: string }): Promise<void> {
  await page.goto("/sign-in");
  await page.getByLabel("Email", { exact: true }).fill(account.email);
  await page.getByLabel("Password", { exact: true }).fill(account.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
}

/** No part of the page is cut off or needs horizontal scrolling. */
export async function assertReflows(page: Page): Promise<void> {
  await eventually(async () => {
    const widths = await page.evaluate<number[]>("[document.documentElement.scrollWidth, innerWidth]");
    assert.ok(widths[0]! <= widths[1]!, `${page.url()} is ${widths[0]} wide in a window of ${widths[1]}`);
  });
}

/** Waits until the element has the focus. */
export async function becomesFocused(element: Locator): Promise<void> {
  await element.and(element.page().locator(":focus")).waitFor();
}

/** Waits for two frames: enough for what is about to be shown or focused. */
export async function framesPass(page: Page): Promise<void> {
  await page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
}

/** Waits until the expression is true in the page. Polled from outside: the page's policy forbids eval. */
export async function becomesTrue(page: Page, expression: string): Promise<void> {
  await eventually(async () => {
    if (await page.evaluate(expression)) return;
    const focused = await page.evaluate<string>("document.activeElement?.outerHTML.slice(0, 200)");
    assert.fail(`${expression}\n  at ${page.url()}\n  with the focus on ${focused}`);
  });
}
