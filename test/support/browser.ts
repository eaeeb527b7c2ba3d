// A real browser on the dashboard of a real service, and what every page of it must hold to.
import assert from "node:assert/strict";
import { type SpawnSyncOptions, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { startTestService, type TestService } from "./service.ts";

const names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
const macOs = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

/** The Chromium of this machine, or that of SVC_TEST_CHROMIUM. */
function findBrowser(): string | undefined {
  const given = process.env["SVC_TEST_CHROMIUM"];
  if (given) return given;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const places = [...folders.flatMap(folder => names.map(name => join(folder, name))), macOs];
  return places.find(place => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Where there is no Chromium, installs Debian's when this user may; otherwise the tests say what is missing. */
export async function installBrowser(): Promise<void> {
  if (findBrowser() !== undefined || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  console.error("Installing Chromium for the tests of the dashboard…");
  const options: SpawnSyncOptions = {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", "ignore", "inherit"],
  };
  spawnSync("apt-get", ["update", "-qq"], options);
  spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"], options);
}

export type TestBrowser = {
  service: TestService;
  /** Where the browser goes: the origin that links in mails bear too. */
  origin: string;
  /** A window of its own, without a session. */
  open(options?: Parameters<Browser["newContext"]>[0]): Promise<Window>;
  close(): Promise<void>;
};

export type Window = {
  page: Page;
  context: BrowserContext;
  /** Everything the browser complained about so far: the page's policy, scripts, failed assets. */
  complaints: string[];
};

/** Throws where there is no browser. */
export async function startTestBrowser(): Promise<TestBrowser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) {
    throw new Error("No Chromium was found: install it (apt-get install chromium) or set SVC_TEST_CHROMIUM.");
  }
  const service = await startTestService();
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath, args });
  const origin = `http://localhost:${new URL(service.url).port}`;
  return {
    service,
    origin,
    async open(options) {
      const context = await browser.newContext({ baseURL: origin, reducedMotion: "reduce", ...options });
      context.setDefaultTimeout(15_000);
      const page = await context.newPage();
      return { page, context, complaints: listenForComplaints(page) };
    },
    async close() {
      await browser.close();
      await service.stop();
    },
  };
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

/** Signs in through the page, with the account's address and password. */
export async function signIn(page: Page, account: { email: string; password: string }): Promise<void> {
  await page.goto("/sign-in");
  await page.getByLabel("Email", { exact: true }).fill(account.email);
  await page.getByLabel("Password", { exact: true }).fill(account.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
}

/** WCAG 2.2 AA and axe's own good practices, in the light and in the dark theme. */
export async function assertAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    // The guards of dialogs and menus hand the focus on; nobody rests on them.
    const axe = new AxeBuilder({ page }).exclude("[data-base-ui-focus-guard]");
    const { violations } = await axe.analyze();
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(" ")}`);
    assert.deepEqual(found, [], `${page.url()} in the ${colorScheme} theme`);
  }
}

/** No part of the page is cut off or has to be scrolled to sideways. */
export async function assertReflows(page: Page): Promise<void> {
  const widths = await page.evaluate<number[]>("[document.documentElement.scrollWidth, innerWidth]");
  assert.ok(widths[0]! <= widths[1]!, `${page.url()} is ${widths[0]} wide in a window of ${widths[1]}`);
}
