// Privacy settings in a browser: rules are tried on past traces, refused at their field, saved, and the key is replaced.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeKey } from "../../support/app.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { send } from "../../support/send.ts";
import { shoot } from "../../support/shoot.ts";

const browser = useBrowser();

test("rules are tried on past traces, refused at their field, and saved", async () => {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner);
  const { key } = await makeKey(owner);
  const attributes = { "gen_ai.prompt": "I am ann@shop.example, customer C-104233.", "user.id": "u-1" };
  const body = canonicalBody(agent.id, { spans: [canonicalSpan({ attributes })] });
  assert.equal((await send({ url: browser.service.url, key }, { body })).status, 201);
  const { page, complaints } = await browser.openAs(owner, { path: `/projects/${owner.projectId}/settings` });
  await page
    .getByRole("navigation", { name: "Project settings" })
    .getByRole("link", { name: "Privacy" })
    .click();
  const redaction = page.getByRole("region", { name: "Redaction" });
  await redaction.getByLabel("All built-in rules").waitFor();
  await shoot(page, "privacy-empty");
  await redaction.getByLabel("Email addresses").check();
  await redaction.getByRole("button", { name: "Add rule" }).click();
  await page.getByLabel("Name, rule 1").fill("customer");
  await page.getByLabel("Pattern, rule 1").fill("C-(\\d{6}");
  await page.getByRole("button", { name: "Try on past traces" }).click();
  await page.getByText("Fix the marked fields.").waitFor();
  await page.getByRole("textbox", { name: "Pattern, rule 1", description: /./ }).waitFor();
  await shoot(page, "privacy-error");
  await page.getByLabel("Pattern, rule 1").fill("C-\\d{6}");
  await page.getByLabel("Attributes to pseudonymize").fill("user.id");
  await page.getByRole("button", { name: "Try on past traces" }).click();
  await page.getByText("These rules would have changed 3 values, in 1 of 1 trace.").waitFor();
  await assertAccessible(page);
  await shoot(page, "privacy-tried");
  const judge = page.getByRole("region", { name: "What the judge sees" });
  await judge.getByLabel("All built-in rules").check();
  await judge.getByLabel("The judge sees what tools returned").uncheck();
  await page.getByRole("button", { name: "Save privacy settings" }).click();
  await page.getByText("Privacy settings saved").waitFor();
  const saved = await owner.client.read(`/api/projects/${owner.projectId}/privacy`);
  assert.deepEqual(saved, {
    builtIn: ["email"],
    rules: [{ name: "customer", pattern: "C-\\d{6}" }],
    pseudonyms: ["user.id"],
    judgeRules: ["*"],
    judgeSeesToolResults: false,
  });
  const keys = page.getByRole("region", { name: "Pseudonym key" });
  await keys.getByText(/^Created/).waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await assertReflows(page);
  await shoot(page, "privacy-narrow");
  assert.deepEqual(complaints, []);
});
