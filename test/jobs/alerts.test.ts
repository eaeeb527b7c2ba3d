// Alerts are gathered, sent once by however many processes, retried for a day, and contain names, counts and links only.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, afterEach, before, beforeEach, suite, test } from "node:test";
import pino from "pino";
import { alerts } from "../../src/jobs/alerts.ts";
import { type RunningJob, startJob } from "../../src/jobs/job.ts";
import { retryDelaysS } from "../../src/model/alert/alert.ts";
import { openMailer } from "../../src/remote/mail/mailer.ts";
import { openOutbound } from "../../src/remote/outbound.ts";
import { insertAgent } from "../../src/store/accounts/agents.ts";
import {
  claimDeliveries,
  deleteOldDeliveries,
  listDeliveries,
  recordAttempt,
} from "../../src/store/alerts/deliveries.ts";
import { closeDigest } from "../../src/store/alerts/digests.ts";
import { setAlerts } from "../../src/store/alerts/opt-outs.ts";
import { replaceSecret, saveWebhook } from "../../src/store/alerts/webhooks.ts";
import type { Database } from "../../src/store/db.ts";
import { newest } from "../../src/store/listing.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { deleteTestCase } from "../../src/store/test-cases.ts";
import { addInTurn, start, traceAt } from "../store/alerts/make-results.ts";
import { makeTestCase, openTwice } from "../store/traces/make-write.ts";
import { hourWithRoom } from "../support/counts.ts";
import { eventually } from "../support/eventually.ts";
import { decoded, type MailServer, startMailServer } from "../support/mail-server.ts";
import { makeAccount, makeProject } from "../support/rows.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

const baseUrl = "https://onlooker.example";
const vault = openVault(Buffer.alloc(32, 1));
const { db, other, close } = await openTwice();
let mailServer: MailServer;
let receiver: WebhookReceiver;
before(async () => {
  mailServer = await startMailServer();
  receiver = await startWebhookReceiver();
});
after(async () => {
  await mailServer.close();
  await receiver.close();
  await close();
});

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of closing.splice(0).reverse()) await end();
});

/** A process that sends alerts. `mail` false: it has no mail server. */
function startSender(pool: Database = db, { mail = true, allow = ["127.0.0.1"], key = vault } = {}) {
  const logs: string[] = [];
  const log = pino({ level: "debug" }, { write: line => void logs.push(line) });
  const mailer = openMailer({
    smtpUrl: mailServer.url,
    from: "Onlooker <o@mail.example>",
    outboxDir: "/",
    log,
  });
  const outbound = openOutbound({ allow });
  const deps = { db: pool, vault: key, outbound, config: { baseUrl }, log, mailer: mail ? mailer : null };
  const sender = startJob(alerts(deps), deps);
  const stop = async () => {
    await sender.stop();
    mailer.close();
    await outbound.close();
  };
  closing.push(stop);
  return { sender, logs, stop };
}

let owner: { accountId: string; email: string };
let watched: { agentId: string; testId: string };
let projectId: string;
beforeEach(async () => {
  await db.pool.query("delete from accounts");
  Object.assign(mailServer, { mails: [], refusing: undefined });
  Object.assign(receiver, { received: [], invalid: [], status: 204, headers: {} });
  const email = `${randomUUID()}@example.com`;
  owner = { email, accountId: await makeAccount(db, { email, verified: true }) };
  projectId = await makeProject(db, owner.accountId);
  const agent = { projectId, name: "Support agent", type: "http_api" as const, otlpServiceName: null };
  const agentId = (await insertAgent(db, agent)).id;
  watched = { agentId, testId: (await makeTestCase(db, agentId, { name: "Refund policy" })).id };
});

async function addWebhook(url = receiver.url): Promise<void> {
  receiver.secret = (await saveWebhook(db, vault, watched.agentId, url)).webhook.secret!;
}

/** The gathering of all agents is over. */
const gathered = () => db.pool.query("update alert_schedules set due_at = now() where due_at is not null");
/** The pause before the next attempt is over. */
const pauseOver = () =>
  db.pool.query("update alert_deliveries set next_try_at = now() where state = 'pending'");
const deliveries = () => listDeliveries(db, watched.agentId, { before: newest, rowsMax: 10 });
/** Everything that is due was attempted. */
const attempted = () =>
  eventually(async () => {
    const { rows } = await db.pool.query(
      `select from alert_deliveries where state = 'pending' and (attempts = 0 or next_try_at <= now())
        union all select from alert_schedules where due_at <= now()`,
    );
    assert.equal(rows.length, 0);
  });

/** Attempts everything that is due, and what falls due by the retries of a day. */
async function sendForADay(sender: RunningJob): Promise<void> {
  for (let attempt = 0; attempt <= retryDelaysS.length; attempt++) {
    // The end of each attempt writes its error.
    await db.pool.query(
      "update alert_deliveries set next_try_at = now(), error = null where state = 'pending'",
    );
    sender.wake();
    await eventually(async () => {
      const { rows } = await db.pool.query(
        "select from alert_deliveries where state = 'pending' and error is null",
      );
      assert.equal(rows.length, 0);
    });
  }
}

suite("a message", () => {
  test("reaches the owner by email and the webhook: names, counts and links", async () => {
    await addWebhook();
    await addInTurn(db, watched, "PFFF");
    await hourWithRoom();
    await db.pool.query(
      `insert into test_hours (agent_id, test_id, hour, passed, failed, skipped, missing_instrumentation, last_run_at, last_outcome)
        select t.agent_id, t.id, date_trunc('hour', now()) - ago * interval '1 hour', passed, failed, 2, 0, now(), 'failed'
        from test_cases t, (values (0, 0, 3), (24, 1, 0), (25, 7, 7)) as counted (ago, passed, failed) where t.id = $1`,
      [watched.testId],
    );
    await db.pool.query(
      `insert into traces (id, agent_id, external_id, kind, path, batch_spans, batch_bytes, derived_revision, name,
        failed, span_count, user_input) values ($1, $2, 'x', 'live', 'otlp', 1, 1, 1, 'n', false, 1, 'SAID BY A USER')`,
      [traceAt(2), watched.agentId],
    );
    await gathered();
    startSender();
    await attempted();
    await eventually(() => assert.equal(mailServer.mails.length + receiver.received.length, 2));

    const agentUrl = `${baseUrl}/projects/${projectId}/agents/${watched.agentId}`;
    const url = `${agentUrl}/tests/${watched.testId}/results`;
    const firstTraceUrl = `${agentUrl}/traces/${traceAt(2)}`;
    const [{ message, headers, id }] = receiver.received as [(typeof receiver.received)[0]];
    assert.deepEqual(
      { ...message, timestamp: "" },
      {
        type: "test_states.changed",
        timestamp: "",
        data: {
          project: { id: projectId, name: "Project" },
          agent: { id: watched.agentId, name: "Support agent", url: `${agentUrl}/tests` },
          failingTests: 1,
          changedTests: 1,
          tests: [
            {
              id: watched.testId,
              name: "Refund policy",
              state: "failing",
              since: new Date(start + 2_000).toISOString(),
              changes: 1,
              last24Hours: { passed: 1, failed: 3 },
              url,
              firstTraceUrl,
            },
          ],
        },
      },
    );
    assert.equal(headers["content-type"], "application/json");
    const [delivery] = await deliveries();
    const { state, attempts, status, error, nextTryAt } = delivery!;
    assert.deepEqual([state, attempts, status, error, nextTryAt], ["delivered", 1, 204, null, null]);
    assert.equal(id, delivery!.id);

    const [mail] = mailServer.mails;
    assert.deepEqual(mail!.to, [owner.email]);
    const source = decoded(mail!.source);
    for (const part of ["“Refund policy” is failing since Nov 21, 2026, 12:00 PM UTC.", url, firstTraceUrl]) {
      assert.ok(source.includes(part), part);
    }
    assert.ok(source.includes("Last 24 hours: 3 failed, 1 passed."));
    assert.ok(!mail!.source.includes("SAID BY A USER"));
    assert.match(mail!.source, /^Message-ID: <[0-9a-f-]{36}@mail\.example>\r$/m);
  });

  test("names each test once with its state now, failing ones first, and at most 50", async () => {
    await addWebhook();
    await addInTurn(db, watched, "FFFPPP");
    const names = Array.from({ length: 52 }, (_, place) => `Test ${String(place).padStart(2, "0")}`);
    for (const name of names) {
      const { id } = await makeTestCase(db, watched.agentId, { name });
      await addInTurn(db, { ...watched, testId: id }, "FFF");
    }
    await gathered();
    startSender();
    await eventually(() => assert.equal(receiver.received.length, 1));
    const { message } = receiver.received[0]!;
    assert.ok(message.type === "test_states.changed");
    const { tests, changedTests, failingTests } = message.data;
    assert.deepEqual([changedTests, failingTests, tests.length], [53, 52, 50]);
    assert.deepEqual(
      tests.map(({ name }) => name),
      names.slice(0, 50),
    );
    await eventually(() => assert.match(decoded(mailServer.mails[0]!.source), /3 more tests changed\./));
  });

  test("says that a test which failed and recovered in the meantime passes again", async () => {
    await addInTurn(db, watched, "FFFPPP");
    await gathered();
    startSender();
    await eventually(() => assert.equal(mailServer.mails.length, 1));
    assert.match(
      decoded(mailServer.mails[0]!.source),
      /“Refund policy” passes again since .* \(changed 2 times\)\./,
    );
  });

  test("is not sent about a test that was deleted before", async () => {
    await addWebhook();
    await addInTurn(db, watched, "FFF");
    await deleteTestCase(db, watched.testId);
    await gathered();
    startSender();
    await attempted();
    assert.deepEqual(await deliveries(), []);
  });
});

suite("by email", () => {
  test("nothing is sent, written or kept for later without a mail server", async () => {
    await addInTurn(db, watched, "FFF");
    await gathered();
    const { logs, stop } = startSender(db, { mail: false });
    await attempted();
    await stop();
    startSender();
    await attempted();
    const { rows } = await db.pool.query(
      "select from alert_deliveries union all select from test_state_changes",
    );
    assert.deepEqual([rows, mailServer.mails, logs], [[], [], []]);
  });

  test("nothing is sent to an account that turned alerts off, before or after the message was written", async () => {
    await addInTurn(db, watched, "FFF");
    await gathered();
    while (await closeDigest(db, { email: true, bodyOf: () => '{"type":"test_states.changed"}' }));
    await setAlerts(db, owner.accountId, false);
    await addInTurn(db, watched, "PPP", 4);
    await gathered();
    startSender();
    await attempted();
    await eventually(async () => {
      const { rows } = await db.pool.query("select state from alert_deliveries");
      assert.deepEqual(rows, [{ state: "delivered" }]);
    });
    assert.equal(mailServer.mails.length, 0);
  });

  test("nothing is sent to an unverified email", async () => {
    await db.pool.query("update accounts set email_verified = false");
    await addInTurn(db, watched, "FFF");
    await gathered();
    startSender();
    await attempted();
    assert.equal(mailServer.mails.length, 0);
  });

  test("a refused message is sent again under the same Message-ID", async () => {
    mailServer.refusing = 451;
    await addInTurn(db, watched, "FFF");
    await gathered();
    const { sender, logs } = startSender();
    await attempted();
    await eventually(() => assert.equal(logs.length, 1));
    mailServer.refusing = undefined;
    await pauseOver();
    sender.wake();
    await eventually(() => assert.equal(mailServer.mails.length, 1));
    const { rows } = await db.pool.query<{ id: string }>("select id from alert_deliveries");
    assert.ok(mailServer.mails[0]!.source.includes(`Message-ID: <${rows[0]!.id}@mail.example>`));
    assert.ok(!logs[0]!.includes("token="));
  });
});

suite("by webhook", () => {
  test("a message that is not accepted is tried nine times in 24 hours, always with the same id and body", async () => {
    assert.equal(
      retryDelaysS.reduce((sum, s) => sum + s),
      24 * 3_600,
    );
    await addWebhook();
    receiver.status = 500;
    await addInTurn(db, watched, "FFF");
    await gathered();
    const { sender } = startSender(db, { mail: false });
    await attempted();
    await eventually(async () => assert.equal((await deliveries())[0]?.status, 500));
    const [first] = await deliveries();
    assert.equal(first!.state, "pending");
    assert.equal(Math.round((first!.nextTryAt!.getTime() - first!.triedAt!.getTime()) / 1000), 60);
    await sendForADay(sender);
    assert.equal(receiver.received.length, 9);
    assert.equal(new Set(receiver.received.map(({ id, body }) => id + body)).size, 1);
    const [last] = await deliveries();
    assert.deepEqual(
      [last!.state, last!.attempts, last!.error, last!.nextTryAt],
      ["failed", 9, "The receiver answered 500.", null],
    );
  });

  const answers: [what: string, arrange: () => unknown, state: string, status: number, error: RegExp][] = [
    ["a redirect is not followed", () => redirect(), "pending", 307, /^127\.0\.0\.1:\d+ redirects elsewhere/],
    ["410 Gone is not retried", () => answer(410), "failed", 410, /^The receiver answered 410\.$/],
  ];
  const answer = (status: number) => Object.assign(receiver, { status });
  const redirect = () => Object.assign(receiver, { status: 307, headers: { location: receiver.url } });
  for (const [what, arrange, state, status, error] of answers) {
    test(what, async () => {
      await addWebhook();
      arrange();
      await addInTurn(db, watched, "FFF");
      await gathered();
      startSender(db, { mail: false });
      await eventually(async () => assert.match((await deliveries())[0]?.error ?? "", error));
      const [delivery] = await deliveries();
      assert.deepEqual([delivery!.state, delivery!.status], [state, status]);
      assert.equal(receiver.received.length, 1);
    });
  }

  test("a private address is not called unless the operator allows it, and the error says so", async () => {
    await addWebhook();
    await addInTurn(db, watched, "FFF");
    await gathered();
    startSender(db, { mail: false, allow: [] });
    await eventually(async () =>
      assert.match((await deliveries())[0]?.error ?? "", /SVC_ALLOW_PRIVATE_TARGETS=127\.0\.0\.1/),
    );
    assert.equal(receiver.received.length, 0);
  });

  test("a replaced secret signs from then on, also what is tried again", async () => {
    await addWebhook();
    const before = receiver.secret;
    await addInTurn(db, watched, "FFF");
    await gathered();
    receiver.secret = (await replaceSecret(db, vault, watched.agentId))!.secret!;
    assert.notEqual(receiver.secret, before);
    startSender(db, { mail: false });
    await eventually(() => assert.equal(receiver.received.length, 1));
    assert.deepEqual(receiver.invalid, []);
  });

  test("a secret that was encrypted with another key is reported, and nothing is sent unsigned", async () => {
    await addWebhook();
    await addInTurn(db, watched, "FFF");
    await gathered();
    startSender(db, { mail: false, key: openVault(Buffer.alloc(32, 2)) });
    await eventually(async () =>
      assert.match((await deliveries())[0]?.error ?? "", /^The secret was encrypted with another key/),
    );
    assert.deepEqual([receiver.received, receiver.invalid], [[], []]);
  });

  test("the secret, the URL's path and the receiver's answer are in no log and no delivery", async () => {
    await addWebhook();
    receiver.status = 500;
    await addInTurn(db, watched, "FFF");
    await gathered();
    const { logs } = startSender(db, { mail: false });
    await eventually(async () => assert.equal((await deliveries())[0]?.status, 500));
    const { rows } = await db.pool.query("select * from alert_deliveries");
    const seen = JSON.stringify([logs, rows]);
    for (const part of [receiver.secret.slice(6), "T0P-SECRET-PATH", "thanks"]) {
      assert.ok(!seen.includes(part), part);
    }
  });
});

suite("several processes", () => {
  test("send each message once", async () => {
    await addWebhook();
    await addInTurn(db, watched, "FFF");
    await gathered();
    const senders = [db, other, db, other].map(pool => startSender(pool).sender);
    for (const sender of senders) sender.wake();
    await attempted();
    // An attempt that is under way is broken off by the end of its process.
    await eventually(async () => {
      const states = (await deliveries()).map(({ state }) => state);
      assert.deepEqual([states, mailServer.mails.length], [["delivered"], 1]);
    });
    await Promise.all(closing.splice(0).map(end => end()));
    assert.deepEqual([mailServer.mails.length, receiver.received.length], [1, 1]);
  });

  test("a message whose process dies after sending it, before recording that, is sent again with the same id", async () => {
    await addWebhook();
    await addInTurn(db, watched, "FFF");
    await gathered();
    while (await closeDigest(db, { email: false, bodyOf: () => '{"type":"test"}' }));
    const [claimed] = await claimDeliveries(other, 10);
    assert.deepEqual(await claimDeliveries(db, 10), [], "nobody else sends it in the meantime");
    startSender(db, { mail: false });
    await pauseOver();
    await eventually(() => assert.equal(receiver.received.length, 1));
    assert.equal(receiver.received[0]!.id, claimed!.id);
    await eventually(async () => assert.equal((await deliveries())[0]!.state, "delivered"));
    // The first process was only slow: its attempt ends now, and changes nothing.
    await recordAttempt(other, claimed!, { state: "pending", status: 500, error: "late" });
    assert.equal((await deliveries())[0]!.state, "delivered");
  });

  test("a process that stops breaks its attempts off, and another one repeats them", async () => {
    await addWebhook();
    receiver.status = 0;
    await addInTurn(db, watched, "FFF");
    await gathered();
    const { stop } = startSender(db, { mail: false });
    await eventually(() => assert.equal(receiver.received.length, 1));
    await stop();
    const [delivery] = await deliveries();
    assert.deepEqual([delivery!.state, delivery!.error], ["pending", null]);
    receiver.status = 204;
    startSender(other, { mail: false });
    await pauseOver();
    await eventually(async () => assert.equal((await deliveries())[0]!.state, "delivered"));
    assert.equal(receiver.received[0]!.id, receiver.received[1]!.id);
  });
});

test("silent receivers of four accounts leave places to a fifth one", async () => {
  const heard = await startWebhookReceiver();
  let unanswered = 0;
  const silent = createServer(() => void unanswered++).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  const addDue = async (url: string, count: number) => {
    const agent = { projectId: await makeProject(db), name: "Agent", type: "http_api" as const };
    const { id } = await insertAgent(db, { ...agent, otlpServiceName: null });
    heard.secret = (await saveWebhook(db, vault, id, url)).webhook.secret!;
    await db.pool.query(
      `insert into alert_deliveries (id, agent_id, channel, kind, body)
        select id_at(now(), gen_random_uuid()), $1, 'webhook', 'alert', '{}' from generate_series(1, $2::int)`,
      [id, count],
    );
  };
  for (let account = 0; account < 4; account++) await addDue(silentUrl, 8);
  closing.push(async () => {
    silent.closeAllConnections();
    silent.close();
    await heard.close();
  });
  const { sender } = startSender(db, { mail: false });
  await eventually(() => assert.ok(unanswered >= 8));
  await addDue(heard.url, 1);
  sender.wake();
  await eventually(() => assert.equal(heard.received.length, 1));
  const { rows } = await db.pool.query("select from alert_deliveries where error is not null");
  assert.deepEqual(rows, [], "before an attempt of the others has ended");
});

test("deliveries are kept for 30 days after they are over", async () => {
  await addWebhook();
  const insert = (days: number, state: string) =>
    db.pool.query(
      `insert into alert_deliveries (id, agent_id, channel, kind, body, state, created_at)
        values (id_at(now(), gen_random_uuid()), $1, 'webhook', 'alert', '{}', $2, now() - $3::int * interval '1 day')`,
      [watched.agentId, state, days],
    );
  await insert(31, "delivered");
  await insert(29, "failed");
  await deleteOldDeliveries(db);
  assert.deepEqual(
    (await deliveries()).map(({ state }) => state),
    ["failed"],
  );
});
