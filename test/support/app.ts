// The real server on a free port with its own database, and functions that create accounts, agents, keys and tests.
import type { AddressInfo } from "node:net";
import { buildApp } from "../../src/http/app.ts";
import type { App, Deps, PasswordHashing, Register } from "../../src/http/frame/deps.ts";
import type { Machine } from "../../src/http/frame/machine.ts";
import { openLog } from "../../src/log.ts";
import type { Agent } from "../../src/model/agent/agent.ts";
import type { Mail } from "../../src/remote/mail/mailer.ts";
import type { OpenDatabase } from "../../src/store/db.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { cheapPasswords } from "./cheap-passwords.ts";
import { type Client, newClient } from "./client.ts";
import { freshDatabase, openFresh } from "./postgres.ts";

export type TestAppOptions = {
  baseUrl?: string;
  limitAccounts?: boolean;
  trustedProxies?: string[];
  /** As if emails were sent by this server; they still go to `mailer`. */
  smtpUrl?: string;
  /** A migrated database of the caller, such as that of another app, who also drops it. */
  databaseUrl?: string;
  /** Hash passwords as the service does, which takes 0.1 s of a core each. */
  realPasswords?: boolean;
  passwordHashing?: PasswordHashing;
  /** Of one of several processes. */
  machine?: Machine;
  /** Adds routes of other rooms. */
  extend?: Register;
};

export type TestApp = {
  app: App;
  databaseUrl: string;
  /** Where the server really listens. */
  url: string;
  db: OpenDatabase;
  mailer: RecordingMailer;
  /** Everything logged, one line each. */
  logs: string[];
  /** A client without a session. */
  client(): Client;
  /** A new account, signed in, with an unverified email. */
  signUp(account?: { email?: string; password?: string }): Promise<Owner>;
  /** The same with a verified email. */
  verifiedAccount(): Promise<Owner>;
  close(): Promise<void>;
};

export type Owner = {
  client: Client;
  accountId: string;
  email: string;
  password: string;
  /** The project that came with the account. */
  projectId: string;
};

export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.databaseUrl ? undefined : await freshDatabase();
  const databaseUrl = options.databaseUrl ?? database!.url;
  const db = openFresh(databaseUrl);
  const mailer = recordingMailer();
  const logs: string[] = [];
  const deps: Deps = {
    config: {
      baseUrl: options.baseUrl ?? "http://onlooker.test",
      trustedProxies: options.trustedProxies ?? [],
      smtpUrl: options.smtpUrl,
    },
    db,
    vault: openVault(Buffer.alloc(32)),
    mailer,
    log: openLog("debug", { write: line => void logs.push(line) }),
    machine: options.machine,
    limitAccounts: options.limitAccounts ?? false,
    passwordHashing: options.realPasswords ? undefined : (options.passwordHashing ?? cheapPasswords),
  };
  const closeDatabase = async () => {
    await db.close();
    await database?.drop();
  };
  const app = await buildApp(deps, options.extend ? [options.extend] : []).catch(async error => {
    await closeDatabase();
    throw error;
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  let accounts = 0;

  const signUp: TestApp["signUp"] = async ({
    email = `owner-${++accounts}@example.com`,
    password = "correct horse battery",
  } = {}) => {
    const client = newClient(url);
    await client.post("/api/auth/sign-up/email", { email, password }).expect(200);
    // With a mail server, a sign-up does not sign in.
    if (!client.cookie) await client.post("/api/auth/sign-in/email", { email, password }).expect(200);
    const body = await client.read("/api/auth/get-session");
    const projects = await client.get("/api/projects").expect(200);
    return { client, accountId: body!.user.id, email, password, projectId: projects.body.items[0]!.id };
  };

  return {
    app,
    databaseUrl,
    url,
    db,
    mailer,
    logs,
    client: () => newClient(url),
    signUp,
    async verifiedAccount() {
      const owner = await signUp();
      const token = tokenOf(await mailer.next(owner.email));
      await owner.client.post("/api/verification/confirm", { token }).expect(200);
      return owner;
    },
    async close() {
      await app.close();
      await closeDatabase();
    },
  };
}

/** An agent of the owner's first project, or of another. */
export async function makeAgent(
  owner: Owner,
  { projectId = owner.projectId, ...agent }: Partial<Agent> = {},
): Promise<Agent> {
  const body = { name: "Support agent", ...agent };
  return (await owner.client.post(`/api/projects/${projectId}/agents`, body).expect(201)).body;
}

/** A Full Access key of the owner's first project, or as `key` says; its text is `key`. */
export async function makeKey(owner: Owner, key: object = {}): Promise<{ id: string; key: string }> {
  const body = { name: "CI", access: "full", ...key };
  return (await owner.client.post(`/api/projects/${owner.projectId}/keys`, body).expect(201)).body;
}

/** An active test case that always runs; `fields` override. */
export async function makeTest(
  owner: Owner,
  agentId: string,
  fields: object = {},
): Promise<{ id: string; name: string }> {
  const body = {
    name: "Answers quickly",
    passiveBehavior: "always_run",
    turns: [{ input: "Hello" }],
    assertions: [{ type: "response_time", max_ms: 1000 }],
    ...fields,
  };
  return (await owner.client.post(`/api/agents/${agentId}/tests`, body).expect(201)).body;
}

/** The token of the link in an email. */
export function tokenOf(mail: Mail): string {
  return new URL(mail.link!).searchParams.get("token")!;
}

export type RecordingMailer = {
  mails: Mail[];
  /** While true, every email is refused. */
  down: boolean;
  send(mail: Mail): Promise<void>;
  forget(): Promise<void>;
  /** The first email to the address that was not returned before; waits for it. */
  next(to: string): Promise<Mail>;
};

function recordingMailer(): RecordingMailer {
  const unread: Mail[] = [];
  const waiting: { to: string; resolve: (mail: Mail) => void }[] = [];
  const mailer: RecordingMailer = {
    mails: [],
    down: false,
    async send(mail) {
      if (mailer.down) throw new Error("the mail server is down");
      mailer.mails.push(mail);
      const index = waiting.findIndex(({ to }) => to === mail.to);
      if (index < 0) unread.push(mail);
      else waiting.splice(index, 1)[0]!.resolve(mail);
    },
    async forget() {},
    next(to) {
      const index = unread.findIndex(mail => mail.to === to);
      if (index >= 0) return Promise.resolve(unread.splice(index, 1)[0]!);
      return new Promise(resolve => waiting.push({ to, resolve }));
    },
  };
  return mailer;
}
