// Screens in Chromium without the service: Vite serves the built dashboard, and the test gives the API's answers.
//
//   const screens = useScreens();
//   test("a guarantee", async () => {
//     const page = await screens.open("/projects/…", { "/api/agents/:id/traces": { items: [...], nextCursor: null } });
//     await page.getByText("…").waitFor();
//   });
//
// For `*.component.test.ts`: what a screen shows of given answers. What a person changes, or what PostgreSQL decides, needs
// the service (browser.ts). Each answer has its route's type and is checked against its schema; one that is not given is
// answered as not found and fails the test, so that a test shows all that its screen reads.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, afterEach, before } from "node:test";
import { type Browser, chromium, type Page, type Route } from "playwright-core";
import { type PreviewServer, preview } from "vite";
import { buildWhenNeeded } from "../../scripts/build.ts";
import type { Agent } from "../../src/model/agent/agent.ts";
import { type AnswerOf, answerSchema, type answers } from "./answers.ts";
import { findBrowser } from "./chromium.ts";

/** What each path answers to GET. */
export type Given = { [P in keyof typeof answers]?: AnswerOf<"GET", P> };

const at = "2026-03-02T10:20:30.000Z";
const user = { id: "owner", email: "owner@example.com", name: "Owner", emailVerified: true };
const session = {
  id: "session",
  token: "token",
  createdAt: at,
  updatedAt: at,
  expiresAt: "2126-01-01T00:00:00.000Z",
};

export const projectId = "00000000-0000-4000-8000-000000000001";
export const agentId = "00000000-0000-4000-8000-000000000002";
const project = { id: projectId, name: "Shop", createdAt: at };
const agent: Agent = {
  ...{ id: agentId, projectId, name: "Support", type: "http_api", otlpServiceName: null },
  ...{
    conventions: [],
    conventionRules: [],
    readFrom: null,
    content: "keep",
    contentForgetAfterSeconds: null,
  },
  attributes: { deny: [], allow: null },
};

const judge = {
  ...{ source: null, provider: null, host: null, url: null, model: null, headers: [], keySet: false },
  ...{
    keyLastFour: null,
    concurrency: null,
    tokensPerMinute: null,
    votes: false,
    mode: null,
    testedAt: null,
  },
  ...{ pausedReason: null, waiting: null, lowCount: null, environment: null },
};

/** A signed-in owner of one project with one agent, and without a judge. */
const signedIn: Given = {
  "/api/auth/get-session": { user, session },
  "/api/projects": { items: [project], nextCursor: null },
  "/api/projects/:id": project,
  "/api/projects/:id/agents": { items: [agent], nextCursor: null },
  "/api/projects/:id/judge": judge,
  "/api/agents/:id": agent,
  "/api/agents/:id/outages": { traces: 0, scheduled: 0, oldest: null },
  "/api/agents/:id/tests": { items: [], nextCursor: null },
  "/api/agents/:id/trace-views": { items: [] },
  "/api/verification": {
    ...{ email: user.email, verified: true, resendAllowedAt: null, mailServer: false },
    ...{ baseUrl: "http://localhost", link: null },
  },
};

export function useScreens(): { open(path: string, given: Given): Promise<Page> } {
  let server: PreviewServer;
  let browser: Browser;
  let complaints: string[] = [];
  before(async () => {
    await buildWhenNeeded();
    const root = join(import.meta.dirname, "../..");
    server = await preview({
      configFile: false,
      root,
      build: { outDir: "dist/web" },
      preview: { host: "127.0.0.1", port: 0 },
      logLevel: "warn",
    });
    browser = await chromium.launch({ ...findBrowser(), handleSIGTERM: false });
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    const said = complaints;
    complaints = [];
    assert.deepEqual(said, []);
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });
  return {
    async open(path, given) {
      const baseURL = server.resolvedUrls!.local[0]!;
      const context = await browser.newContext({ baseURL, reducedMotion: "reduce" });
      context.setDefaultTimeout(30_000);
      const page = await context.newPage();
      page.on("pageerror", error => complaints.push(`script: ${error.message}`));
      await page.route("**/api/**", route => answer(route, { ...signedIn, ...given }, complaints));
      await page.goto(path);
      return page;
    },
  };
}

async function answer(route: Route, given: Given, complaints: string[]): Promise<void> {
  const method = route.request().method();
  const { pathname } = new URL(route.request().url());
  // A stream without events.
  if (pathname === "/api/events")
    return route.fulfill({ contentType: "text/event-stream", body: ": open\n\n" });
  const schema = answerSchema(method, pathname);
  const known = Object.entries(given).find(([path]) => matches(path, pathname));
  if (method === "GET" && schema && known) {
    const { error } = schema.safeParse(known[1]);
    if (error) complaints.push(`${pathname} was given another shape: ${error.message}`);
    return route.fulfill({ json: known[1] });
  }
  complaints.push(`nobody answers ${method} ${pathname}`);
  const refused = { code: "NOT_FOUND", message: "Not found.", requestId: crypto.randomUUID() };
  return route.fulfill({ status: 404, json: refused });
}

function matches(path: string, pathname: string): boolean {
  const steps = pathname.split("/");
  const pattern = path.split("/");
  return (
    pattern.length === steps.length && pattern.every((step, at) => step.startsWith(":") || step === steps[at])
  );
}
