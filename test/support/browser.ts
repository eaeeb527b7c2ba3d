// A real browser on the dashboard of a real service, and what every page of it must hold to.
import assert from "node:assert/strict";
import { afterEach, beforeEach } from "node:test";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { findBrowser } from "./chromium.ts";
import { eventually } from "./eventually.ts";
import { startTestService, type TestService, type TestServiceOptions } from "./service.ts";

export type TestBrowser = {
  service: TestService;
  /** The origin that the browser opens, and that links in emails have. */
  origin: string;
  /** A window of its own, without a session. One opened in a test is closed or reused when the test ends. */
  open(options?: WindowOptions): Promise<Window>;
  /** The same with a session of the account, on this path of the dashboard if one is given. */
  openAs(
    account: { email: string; password: string },
    options?: WindowOptions & { path?: string },
  ): Promise<Window>;
  close(): Promise<void>;
};

type WindowOptions = { viewport?: { width: number; height: number }; baseURL?: string };

export type Window = {
  page: Page;
  context: BrowserContext;
  /** Everything the browser complained about so far: the page's policy, scripts, failed assets. */
  complaints: string[];
};

/** What to do with the windows of a test when it ends; absent outside of tests. */
let atEndOfTest: (() => Promise<void>)[] | undefined;
beforeEach(() => {
  atEndOfTest = [];
});
afterEach(async () => {
  for (const end of atEndOfTest ?? []) await end();
  atEndOfTest = undefined;
});

/** Throws where there is no browser. The options are the service's. */
export async function startTestBrowser(options: TestServiceOptions = {}): Promise<TestBrowser> {
  const browserOptions = findBrowser();
  const service = await startTestService(options);
  const browser = await chromium.launch(browserOptions);
  const origin = `http://localhost:${new URL(service.url).port}`;
  const idle: Page[] = [];

  async function open({
    viewport = { width: 1280, height: 720 },
    baseURL,
  }: WindowOptions = {}): Promise<Window> {
    const page = (baseURL === undefined && idle.pop()) || (await newPage(browser, baseURL ?? origin));
    await page.setViewportSize(viewport);
    atEndOfTest?.push(async () => {
      if (baseURL === undefined && (await makeLikeNew(page))) idle.push(page);
      else await page.context().close();
    });
    return { page, context: page.context(), complaints: listenForComplaints(page) };
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
    async close() {
      await browser.close();
      await service.stop();
    },
  };
}

async function newPage(browser: Browser, baseURL: string): Promise<Page> {
  const context = await browser.newContext({ baseURL, reducedMotion: "reduce" });
  context.setDefaultTimeout(15_000);
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

/** Gives the page's window a session of the account. The page stays where it is. */
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

/** The rules whose outcome a theme can change: it changes colors alone. */
const colorRules = ["color-contrast", "link-in-text-block"];

/**
 * WCAG 2.2 AA and axe's own best practices, in the light and in the dark theme. Calls axe-core itself: by way of
 * @axe-core/playwright, which injects it for every run and collects every node that passes, this took twice as long,
 * and it is a third of the time of all browser tests.
 */
export async function assertAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    // The focus guards of dialogs and menus hand the focus on; nobody rests on them.
    const context = { exclude: [["[data-base-ui-focus-guard]"]] };
    const options: axe.RunOptions = {
      resultTypes: ["violations"],
      ...(colorScheme === "dark" && { runOnly: { type: "rule", values: colorRules } }),
    };
    if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
    const { violations } = await page.evaluate<axe.AxeResults>(
      `axe.run(${JSON.stringify(context)}, ${JSON.stringify(options)})`,
    );
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(" ")}`);
    assert.deepEqual(found, [], `${page.url()} in the ${colorScheme} theme`);
  }
}

/** No part of the page is cut off or has to be scrolled to sideways. */
export async function assertReflows(page: Page): Promise<void> {
  await eventually(async () => {
    const widths = await page.evaluate<number[]>("[document.documentElement.scrollWidth, innerWidth]");
    assert.ok(widths[0]! <= widths[1]!, `${page.url()} is ${widths[0]} wide in a window of ${widths[1]}`);
  });
}

/** Waits until it has the focus. */
export async function becomesFocused(element: Locator): Promise<void> {
  await element.and(element.page().locator(":focus")).waitFor();
}

/** Waits until the expression holds in the page. Asked from outside: the page's policy lets nothing be evaluated. */
export async function becomesTrue(page: Page, expression: string): Promise<void> {
  await eventually(async () => assert.ok(await page.evaluate(expression), expression));
}
