// Alerts in a browser: the webhook with its secret and deliveries, failing tests, and turning emails off and on.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addInTurn } from "../../store/alerts/make-results.ts";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeTest } from "../../support/app.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { alertsIn, decoded, type MailServer, startMailServer } from "../../support/mail-server.ts";
import { shoot } from "../../support/shoot.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../support/webhook-receiver.ts";

let mailServer: MailServer;
let receiver: WebhookReceiver;
const browser = useBrowser(async () => {
  mailServer = await startMailServer();
  receiver = await startWebhookReceiver();
  return { config: { smtpUrl: mailServer.url, allowPrivateTargets: ["127.0.0.1"] } };
});
const withoutMail = useBrowser();
after(async () => {
  await receiver?.close();
  await mailServer?.close();
});

const longName = `Refund_policy_${"of_the_shop_".repeat(8)}and nothing else`;

test("a webhook is created and tested, a failing test is told and shown, and emails are turned off by their link", async () => {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: `Support agent ${"x".repeat(60)}` });
  const { id: testId } = await makeTest(owner, agent.id, { name: longName });
  const base = `/projects/${owner.projectId}/agents/${agent.id}`;
  const { page, complaints } = await browser.openAs(owner, { baseURL: browser.origin });
  await page.clock.install();
  await page.goto(`${base}/settings`);
  const section = page.getByRole("region", { name: "Alerts" });
  await section.getByText(owner.email).waitFor();
  await section.getByLabel("Webhook URL").fill("https://user:secret@example.com");
  await section.getByRole("button", { name: "Create webhook" }).click();
  await section.getByText("Must not contain a user name or password.").waitFor();
  await shoot(page, "webhook-fault");
  await section.getByLabel("Webhook URL").fill(receiver.url);
  await section.getByRole("button", { name: "Create webhook" }).click();
  const dialog = page.getByRole("dialog", { name: /^Your secret/ });
  receiver.secret = await dialog.getByLabel("The secret").inputValue();
  await dialog.getByText("Onlooker stores it encrypted.").waitFor();
  await assertAccessible(page);
  await shoot(page, "webhook-secret");
  await dialog.getByRole("button", { name: "I’ve stored it" }).click();
  await section.getByText("No messages sent yet.").waitFor();
  assert.ok(!(await page.content()).includes(receiver.secret));

  await section.getByRole("button", { name: "Send a test" }).click();
  const rows = section.getByRole("listitem");
  await rows.filter({ hasText: "Delivered" }).getByText("Answered 204. 1 attempt").waitFor();
  receiver.status = 500;
  await section.getByRole("button", { name: "Send a test" }).click();
  await rows.filter({ hasText: "Failed" }).getByText("The receiver answered 500.").waitFor();

  await addInTurn(browser.service.db, { agentId: agent.id, testId }, "FFF");
  await browser.service.db.pool.query("update alert_schedules set due_at = now()");
  await eventually(() => assert.equal(receiver.received.length, 3));
  await page.clock.fastForward(15_000); // until the page asks again
  await rows
    .filter({ hasText: "Retrying" })
    .getByText(/1 attempt, retry at .+, in \d+ s/)
    .waitFor();
  await assertAccessible(page);
  await shoot(page, "webhook-deliveries");
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await shoot(page, "webhook-deliveries-390");
  await page.setViewportSize({ width: 1280, height: 720 });

  await section.getByRole("button", { name: "Replace secret…" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Replace secret" }).click();
  const replaced = await dialog.getByLabel("The secret").inputValue();
  assert.notEqual(replaced, receiver.secret);
  await dialog.getByRole("button", { name: "I’ve stored it" }).click();
  await section.getByRole("button", { name: "Delete webhook…" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete webhook" }).click();
  await section.getByRole("button", { name: "Create webhook" }).waitFor();
  await eventually(async () => assert.equal(await section.getByLabel("Webhook URL").inputValue(), ""));

  await page.goto(`${base}/tests`);
  const failing = "Failing since Nov 21, 2026";
  await page.getByRole("row").filter({ hasText: longName }).getByText(failing).waitFor();
  await shoot(page, "tests");
  await page.setViewportSize({ width: 390, height: 844 });
  await assertReflows(page);
  await shoot(page, "tests-390");
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.getByRole("link", { name: longName }).click();
  await page.getByText(failing).waitFor();
  await shoot(page, "editor");
  await page.goto(`${base}/tests/${testId}/results`);
  await page.getByText(failing).waitFor();
  await shoot(page, "results");

  const mail = await eventually(() => {
    assert.equal(alertsIn(mailServer).length, 1);
    return alertsIn(mailServer)[0];
  });
  const link = /\/alerts\/off\?token=[\w.-]+/.exec(decoded(mail!.source))![0];
  const stranger = await browser.open();
  await stranger.page.goto(link);
  await shoot(stranger.page, "off");
  const isOn = async () => (await owner.client.read("/api/email-alerts")).on;
  assert.equal(await isOn(), true);
  await stranger.page.getByRole("button", { name: "Turn off email alerts" }).click();
  await stranger.page.getByRole("heading", { name: "Email alerts are off" }).waitFor();
  assert.equal(await isOn(), false);
  await assertAccessible(stranger.page);
  await stranger.page.goto("/alerts/off?token=wrong");
  await stranger.page.getByRole("button", { name: "Turn off email alerts" }).click();
  await stranger.page.getByText("Unknown link.").waitFor();
  await shoot(stranger.page, "off-unknown");
  await stranger.page.goto("/alerts/off");
  await stranger.page.getByRole("heading", { name: "Incomplete link" }).waitFor();

  await page.goto("/settings/alerts");
  const box = page.getByLabel(`Email alerts to ${owner.email}`);
  await eventually(async () => assert.equal(await box.isChecked(), false));
  await box.check();
  await page.getByText("Email alerts turned on").waitFor();
  assert.equal(await isOn(), true);
  await shoot(page, "settings");
  assert.deepEqual(complaints, []);
});

test("without a mail server the settings say that no alerts are emailed", async () => {
  const owner = await withoutMail.service.signUp();
  const { page, complaints } = await withoutMail.openAs(owner, { path: "/settings/alerts" });
  await page.getByText("No alerts are emailed: this server has no mail server.").waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await assertReflows(page);
  await shoot(page, "settings-no-mail");
  const agent = await makeAgent(owner);
  await page.goto(`/projects/${owner.projectId}/agents/${agent.id}/settings`);
  const section = page.getByRole("region", { name: "Alerts" });
  await section.getByText("No mail server").waitFor();
  await section.getByRole("link", { name: "Email settings" }).click();
  await page.waitForURL("**/settings/alerts");
  assert.deepEqual(complaints, []);
});
