// npm run dev: the dashboard works through its port, follows changes without a reload, and all of it ends with the process.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { on, once } from "node:events";
import { mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { childEnv } from "../support/child-env.ts";
import { findBrowser } from "../support/chromium.ts";
import { freePort } from "../support/free-port.ts";
import { freshDatabase } from "../support/postgres.ts";

const root = join(import.meta.dirname, "../..");
const dataDir = mkdtempSync(join(tmpdir(), "onlooker-dev-"));
const [port, database] = await Promise.all([freePort(), freshDatabase()]);
const url = `http://localhost:${port}`;
const dev = spawn(process.execPath, [join(root, "scripts/dev.ts")], {
  env: { ...childEnv, DATABASE_URL: database.url, SVC_DATA_DIR: dataDir, PORT: String(port) },
  stdio: ["ignore", "pipe", "inherit"],
});
const lines = createInterface(dev.stdout);
const signIn = printed(/Sign in +(\S+), password (\S+)/);
let browser: Browser;
let page: Page;
before(async () => {
  browser = await chromium.launch(findBrowser());
  page = await browser.newPage();
  // Before the first page, Vite bundles the packages of the dashboard, which takes long on a busy machine.
  page.setDefaultTimeout(120_000);
});
after(async () => {
  await browser?.close();
  dev.kill("SIGKILL");
  await database.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The first line that it prints from now on that matches. */
async function printed(pattern: RegExp): Promise<RegExpExecArray> {
  for await (const [line] of on(lines, "line", { close: ["close"] })) {
    const match = pattern.exec(line);
    if (match) return match;
  }
  throw new Error("npm run dev has ended");
}

/** As an editor saves it: the file itself belongs to other tests too. */
function save(file: string): void {
  const now = new Date();
  utimesSync(join(root, file), now, now);
}

test("the sign-in that it prints opens the demo's project, whose writes pass the check of the origin", async () => {
  const [, email, password] = await signIn;
  await page.goto(url);
  await page.getByLabel("Email").fill(email!);
  await page.getByLabel("Password", { exact: true }).fill(password!);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation").getByText("Demo").first().waitFor();
});

test("a saved component is replaced on the page without loading the page again", async () => {
  await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
  const replaced = page.waitForResponse(response => /\/shell\/Navigation\.tsx\?t=/.test(response.url()));
  save("web/shell/Navigation.tsx");
  assert.equal((await replaced).status(), 200);
  assert.equal(await page.evaluate(() => "isSamePage" in globalThis), true);
});

test("a saved source of the service starts it again", async () => {
  const restarted = printed(/Service restarted in/);
  save("src/run.ts");
  await restarted;
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
});

test("SIGTERM ends the service and the dashboard", async () => {
  const ended = once(dev, "exit");
  dev.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null]);
  for (const one of [port, port + 1]) await assert.rejects(fetch(`http://localhost:${one}/`));
});
