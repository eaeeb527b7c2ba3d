// Alerts in the whole service: from three failing traces to an email, a signed webhook, and the link that turns emails off.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeTest } from "../support/app.ts";
import { canonicalBody, canonicalSpan } from "../support/bodies.ts";
import { eventually } from "../support/eventually.ts";
import { alertsIn, decoded, type MailServer, startMailServer } from "../support/mail-server.ts";
import { send } from "../support/send.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

let mailServer: MailServer;
let receiver: WebhookReceiver;
let service: TestService;
before(async () => {
  mailServer = await startMailServer();
  receiver = await startWebhookReceiver();
  service = await startTestService({
    config: { smtpUrl: mailServer.url, allowPrivateTargets: ["127.0.0.1"] },
  });
});
after(async () => {
  await service?.stop();
  await receiver?.close();
  await mailServer?.close();
});

test("a test that fails three times is reported by email and webhook, and the email's link turns emails off", async () => {
  const { client, agent, owner, db } = service;
  const { id: testId } = await makeTest(owner, agent.id, {
    assertions: [{ type: "response_regex", pattern: "^fine$" }],
  });
  const hook = `/api/agents/${agent.id}/webhook` as const;
  receiver.secret = (await client.put(hook, { url: receiver.url }).expect(200)).body.secret!;

  await client.post(`${hook}/test`).expect(201);
  await eventually(() => assert.equal(receiver.received[0]?.message.type, "test"));
  await eventually(async () => {
    const { items } = await client.read(`${hook}/deliveries`);
    assert.deepEqual([items[0]!.state, items[0]!.status], ["delivered", 204]);
  });

  const say = async (text: string) => {
    const body = canonicalBody(agent.id, {
      spans: [canonicalSpan({ attributes: { "gen_ai.response.text": text } })],
    });
    assert.equal((await send(service, { body })).status, 201);
  };
  for (let count = 0; count < 3; count++) await say("SAID BY AN AGENT");
  const state = async () => (await client.read(`/api/tests/${testId}/state`)).failing;
  await eventually(async () => assert.notEqual(await state(), null));
  const due = () => db.pool.query("update alert_schedules set due_at = now() where due_at is not null");
  await due();
  await eventually(() => assert.deepEqual([receiver.received.length, alertsIn(mailServer).length], [2, 1]));
  const { message, body } = receiver.received[1]!;
  assert.ok(message.type === "test_states.changed");
  const [told] = message.data.tests;
  assert.deepEqual([told!.id, told!.state, told!.last24Hours], [testId, "failing", { passed: 0, failed: 3 }]);
  const [mail] = alertsIn(mailServer);
  assert.ok(!`${body} ${decoded(mail!.source)}`.includes("SAID BY AN AGENT"));

  assert.match(mail!.source, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
  const [, header] = /^List-Unsubscribe: <([^>]*)>/m.exec(mail!.source.replace(/\r\n\s+/g, " ")) ?? [];
  const link = new URL(header!);
  assert.ok(decoded(mail!.source).includes(link.href));
  const oneClick = await fetch(new URL(link.pathname + link.search, service.url), {
    method: "POST",
    body: new URLSearchParams({ "List-Unsubscribe": "One-Click" }),
  });
  assert.equal(oneClick.status, 200);
  assert.equal((await client.read("/api/email-alerts")).on, false);

  for (let count = 0; count < 3; count++) await say("fine");
  await eventually(async () => assert.equal(await state(), null));
  await due();
  await eventually(() => assert.equal(receiver.received.length, 3));
  assert.equal(alertsIn(mailServer).length, 1);

  const logged = service.logs.join("\n");
  const secrets = [receiver.secret.slice(6), link.searchParams.get("token")!, "T0P-SECRET-PATH"];
  for (const secret of secrets) assert.ok(!logged.includes(secret), secret);
});
