// The whole service on a free port with its own database, an account, an agent and a key.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, readConfig } from "../../src/config.ts";
import { openLog } from "../../src/log.ts";
import type { Agent } from "../../src/model/agent/agent.ts";
import { startService } from "../../src/service.ts";
import { verifyAccount } from "../../src/store/accounts/accounts.ts";
import type { Database } from "../../src/store/db.ts";
import { makeAgent, makeKey, type Owner } from "./app.ts";
import { cheapPasswords } from "./cheap-passwords.ts";
import { type Client, newClient } from "./client.ts";
import { freshDatabase, openFresh, variablesOf } from "./postgres.ts";

/** The OTLP service name of the first agent. */
export const serviceName = "support-agent";

export type TestServiceOptions = {
  /** Overrides the defaults: both roles, one evaluation thread, no judge, a silent log of the threads. */
  config?: Partial<Config>;
  /** A migrated database of the caller, who also drops it; by default a new one that `stop` drops. */
  databaseUrl?: string;
  /** Whether to limit sign-ups, wrong passwords and wrong keys. Default: false. */
  limitAccounts?: boolean;
};

export type TestService = {
  url: string;
  databaseUrl: string;
  /** The test's own connections, apart from the service's. */
  db: Database;
  /** A verified account, signed in; the other records here belong to it. */
  owner: Owner;
  client: Client;
  projectId: string;
  /** Its OTLP service name is `serviceName`. */
  agent: Agent;
  /** The text of a Full Access key. */
  key: string;
  /** Everything logged, one line each, without the evaluation threads' own lines. */
  logs: string[];
  /** A new account, signed in, and verified by default. */
  signUp(options?: { verified?: boolean }): Promise<Owner>;
  /** What `stop` does first, such as to close servers that the service talks to. */
  closing: (() => Promise<unknown>)[];
  /** Safe to call again. */
  stop(): Promise<void>;
};

export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const database = options.databaseUrl ? undefined : await freshDatabase();
  const databaseUrl = options.databaseUrl ?? database!.url;
  const dataDir = await mkdtemp(join(tmpdir(), "onlooker-service-"));
  const logs: string[] = [];
  const config = {
    ...readConfig({}),
    port: 0,
    httpProcesses: 1,
    evaluators: 1,
    logLevel: "silent" as const,
    dataDir,
  };
  const { databaseUrl: reached, databasePooler, databaseDirectUrl } = readConfig(variablesOf(databaseUrl));
  const service = await startService(
    { ...config, ...options.config, databaseUrl: reached, databasePooler, databaseDirectUrl },
    openLog("debug", { write: line => void logs.push(line) }),
    { passwordHashing: cheapPasswords, limitAccounts: options.limitAccounts ?? false },
  );
  const db = openFresh(databaseUrl, 4);
  let accounts = 0;

  const signUp: TestService["signUp"] = async ({ verified = true } = {}) => {
    const client = newClient(service.url);
    const email = `owner-${++accounts}-${crypto.randomUUID()}@example.com`;
    const password = "correct horse battery";
    await client.post("/api/auth/sign-up/email", { email, password }).expect(200);
    // With a mail server, a sign-up does not sign in.
    if (!client.cookie) await client.post("/api/auth/sign-in/email", { email, password }).expect(200);
    const body = await client.read("/api/auth/get-session");
    if (verified) await verifyAccount(db, body!.user.id);
    const projects = await client.get("/api/projects").expect(200);
    return { client, accountId: body!.user.id, email, password, projectId: projects.body.items[0]!.id };
  };

  const owner = await signUp();
  const agent = await makeAgent(owner, { otlpServiceName: serviceName });
  const { key } = await makeKey(owner);
  const secrets = [key, owner.password, decodeURIComponent(owner.client.cookie.split("=")[1]!)];
  let stopped: Promise<void> | undefined;

  const closing: TestService["closing"] = [];
  async function stop(): Promise<void> {
    await Promise.all(closing.map(close => close()));
    await db.close();
    await service.stop();
    await database?.drop();
    await rm(dataDir, { recursive: true, force: true });
    // Whatever a test did: test/flow/log-canaries.test.ts searches for more.
    for (const secret of secrets)
      assert.equal(
        logs.find(line => line.includes(secret)),
        undefined,
      );
  }

  return {
    url: service.url,
    databaseUrl,
    db,
    owner,
    client: owner.client,
    projectId: owner.projectId,
    agent,
    key,
    logs,
    signUp,
    closing,
    stop: () => (stopped ??= stop()),
  };
}
