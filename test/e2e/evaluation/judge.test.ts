// Browser tests of a project's judge: setup, connection test, pause, removal; its key is never shown.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Page } from "playwright-core";
import { fingerprintOf, saveWait } from "../../../src/store/judge/states.ts";
import { assertAccessible } from "../../support/accessible.ts";
import type { Owner } from "../../support/app.ts";
import {
  assertReflows,
  becomesFocused,
  becomesTrue,
  startTestBrowser,
  useBrowser,
} from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import {
  counting,
  type JudgeServer,
  obliging,
  only,
  refusal,
  startJudgeServer,
} from "../../support/judge-server.ts";

const apiKey = "sk-never-to-be-shown-abcd";
const browser = useBrowser({ config: { roles: ["http"] } });
let judge: JudgeServer;
before(async () => {
  judge = await startJudgeServer();
});
after(() => judge.close());
beforeEach(() => {
  judge.script = obliging();
});

type Place = { page: Page; owner: Owner; complaints: string[] };

async function openJudge(): Promise<Place> {
  const owner = await browser.service.signUp();
  const { page, complaints } = await browser.openAs(owner, {
    path: `/projects/${owner.projectId}/settings/judge`,
  });
  await page.getByRole("heading", { level: 2, name: "Current judge" }).waitFor();
  return { page, owner, complaints };
}

async function fill(page: Page, provider: string, { address = judge.url, key = apiKey } = {}): Promise<void> {
  await page.getByRole("radio", { name: provider }).check();
  await page.getByLabel(/^URL/).fill(address);
  await page.getByLabel(/^Model/).fill("small-judge");
  await page.getByLabel(/^API key/).fill(key);
}

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
/** Of the card that shows the judge in use. */
const inForce = (page: Page) => page.getByRole("region", { name: "Current judge" });

for (const [provider, protocol, address] of [
  [/^OpenAI —/, "openai", () => judge.url],
  [/^Anthropic/, "anthropic", () => judge.url],
  [/^Google/, "google", () => judge.url.replace("/v1", "/v1beta")],
  [/^OpenAI-compatible/, "openai", () => judge.url],
] as const) {
  test(`a judge can be tested before it is saved: ${provider.source}`, async () => {
    const { page, complaints } = await openJudge();
    await page.getByText("No judge configured.", { exact: false }).first().waitFor();
    const asked = judge.requests.length;
    await fill(page, "OpenAI-compatible server");
    await page.getByRole("radio", { name: provider }).check();
    await page.getByLabel(/^URL/).fill(address());
    await press(page, "Test connection");
    await page.getByText("The judge works.").waitFor();
    assert.deepEqual(
      judge.requests.slice(asked).map(request => request.protocol),
      [protocol, protocol, protocol],
    );
    await press(page, "Save");
    const facts = inForce(page);
    await facts.getByText("Ends in abcd").waitFor();
    await facts.getByText("small-judge").waitFor();
    await facts.getByText("JSON schema").waitFor();
    await eventually(async () => assert.equal(await page.getByLabel(/^API key/).inputValue(), ""));
    await eventually(async () =>
      assert.equal(await page.getByRole("radio", { name: provider }).isChecked(), true),
    );
    await page.reload();
    await facts.getByText("Ends in abcd").waitFor();
    await eventually(async () => assert.equal(await page.getByLabel(/^URL/).inputValue(), address()));
    assert.equal((await page.content()).includes(apiKey), false);
    assert.deepEqual(complaints, []);
  });
}

test("a connection test shows which answer formats work, and the result is kept", async () => {
  judge.script = only(["text"], obliging());
  const { page } = await openJudge();
  await fill(page, "OpenAI-compatible server");
  await press(page, "Test connection");
  const tried = page.getByRole("list", { name: "Answer formats tried" });
  await tried.waitFor();
  await eventually(async () =>
    assert.deepEqual(await tried.getByRole("listitem").allTextContents(), [
      "JSON schema: Not supported.",
      "Tool call: Not supported.",
      "JSON object: Not supported.",
      "Plain JSON: works",
    ]),
  );
  await page.setViewportSize({ width: 320, height: 800 });
  await assertReflows(page);
  await press(page, "Save");
  await inForce(page).getByText("Plain JSON").waitFor();
});

test("missing values are reported at their fields, before and after sending", async () => {
  const { page } = await openJudge();
  await press(page, "Save");
  await page.getByText("Please fill out this field.").first().waitFor();
  await becomesTrue(page, "document.activeElement?.name === 'model'");
  await page.getByRole("radio", { name: /^OpenAI-compatible/ }).check();
  await page.getByLabel(/^Model/).fill("small-judge");
  await page.getByLabel(/^URL/).fill("nowhere");
  await press(page, "Test connection");
  await page.getByText("Not a valid URL. Enter one like https://api.example.com/v1.").waitFor();
  await press(page, "Ollama");
  await eventually(async () =>
    assert.equal(await page.getByLabel(/^URL/).inputValue(), "http://127.0.0.1:11434/v1"),
  );
});

test("a rejected key pauses the judge until another key is saved", async () => {
  const { page } = await openJudge();
  await fill(page, "OpenAI-compatible server");
  await press(page, "Save");
  await inForce(page).getByText("Ends in abcd").waitFor();
  judge.script = () => refusal(401, { message: `Wrong key ${apiKey}` });
  await press(page, "Test connection");
  await page.getByText("Check the API key, the URL, the model name and the headers.").waitFor();
  await inForce(page).getByText("Paused.").waitFor();
  await inForce(page).getByText("The judge rejected the API key (401).").waitFor();
  judge.script = obliging();
  await page.getByLabel(/^API key/).fill("sk-another-good-key-wxyz");
  await press(page, "Save");
  await inForce(page).getByText("Ends in wxyz").waitFor();
  await eventually(async () => assert.equal(await page.getByText("Paused.").count(), 0));
});

test("a successful connection test ends the pause", async () => {
  const { page } = await openJudge();
  await fill(page, "OpenAI-compatible server");
  await press(page, "Save");
  await inForce(page).getByText("Ends in abcd").waitFor();
  judge.script = () => refusal(404);
  await press(page, "Test connection");
  await inForce(page).getByText("Paused.").waitFor();
  judge.script = obliging();
  await press(page, "Test connection");
  await page.getByText("The judge works.").waitFor();
  await inForce(page).getByText("Paused.").waitFor({ state: "detached" });
});

test("the stored key is not sent to another server, and can be removed", async () => {
  const { page } = await openJudge();
  await fill(page, "OpenAI-compatible server");
  await press(page, "Save");
  await inForce(page).getByText("Ends in abcd").waitFor();
  await page.getByLabel(/^URL/).fill("http://127.0.0.1:9/v1");
  await press(page, "Test connection");
  await page
    .getByText(/^Enter the API key again: the stored one was entered for 127\.0\.0\.1:\d+\.$/)
    .waitFor();
  await page.getByLabel(/^URL/).fill(judge.url);
  await page.getByRole("checkbox", { name: "Remove the stored key" }).check();
  await press(page, "Save");
  await inForce(page).getByText("None", { exact: true }).waitFor();
  await becomesFocused(page.getByRole("button", { name: "Save", exact: true }));
});

test("headers for a gateway are stored and sent, and their values never shown again", async () => {
  const { page, complaints } = await openJudge();
  const asked = judge.requests.length;
  await fill(page, "OpenAI-compatible server");
  await press(page, "Add header");
  await page.getByLabel("Name of header 1").fill("x-portkey-provider");
  await page.getByLabel("Value of x-portkey-provider").fill("hidden-value");
  await press(page, "Save");
  await inForce(page).getByText("small-judge").waitFor();
  await page.reload();
  const value = page.getByLabel("Value of x-portkey-provider");
  await eventually(async () =>
    assert.deepEqual(
      [await value.inputValue(), await value.getAttribute("placeholder")],
      ["", "Stored; type to replace it"],
    ),
  );
  assert.doesNotMatch(await page.content(), /hidden-value/);
  await press(page, "Test connection");
  await page.getByText("The judge works.").waitFor();
  assert.equal(judge.requests.at(asked)!.headers["x-portkey-provider"], "hidden-value");
  await assertAccessible(page);
  await page.getByRole("button", { name: "Remove x-portkey-provider" }).click();
  await press(page, "Save");
  await page.getByText("Judge saved").waitFor();
  await page.reload();
  await inForce(page).getByText("small-judge").waitFor();
  await page.getByRole("button", { name: "Add header" }).waitFor();
  await eventually(async () => assert.equal(await page.getByLabel("Name of header 1").count(), 0));
  assert.deepEqual(complaints, []);
});

test("a server that asked to wait is shown with its reason and until when, and an edit is saved and ends it", async () => {
  const { page, owner } = await openJudge();
  await fill(page, "OpenAI-compatible server");
  await press(page, "Save");
  await inForce(page).getByText("small-judge").waitFor();
  const connection = { provider: "openai_compatible", url: judge.url, model: "small-judge", apiKey } as const;
  const reason = "The judge answered with status 429 (not called again for 60 min).";
  await saveWait(browser.service.db, fingerprintOf(connection, owner.projectId), 3_600_000, reason);
  await page.reload();
  const card = inForce(page);
  await card.getByText(/^Not called until /).waitFor();
  await card.getByText(reason).waitFor();
  await page.getByLabel("Concurrent calls").fill("3");
  await page.getByLabel("Vote on failures").check();
  await press(page, "Save");
  await card.getByText(/^Not called until /).waitFor({ state: "detached" });
  const { concurrency, votes } = await owner.client.read(`/api/projects/${owner.projectId}/judge`);
  assert.deepEqual([concurrency, votes], [3, true]);
});

test("a judge is removed after confirmation", async () => {
  const { page, owner, complaints } = await openJudge();
  await fill(page, "OpenAI-compatible server");
  await press(page, "Save");
  await page.getByRole("button", { name: "Remove judge…" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Remove judge" });
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Remove judge" }).click();
  await inForce(page).getByText("No judge configured.").waitFor();
  const body = await owner.client.read(`/api/projects/${owner.projectId}/judge`);
  assert.equal(body.source, null);
  assert.deepEqual(complaints, []);
});

test("prices can be added, validated at their fields, saved and discarded", async () => {
  const { page, owner, complaints } = await openJudge();
  await owner.client.put(`/api/projects/${owner.projectId}/judge`, typed()).expect(200);
  await page.reload();
  await page
    .getByRole("navigation", { name: "Project settings" })
    .getByRole("link", { name: "Prices" })
    .click();
  await page.getByRole("heading", { name: "No prices of your own" }).waitFor();
  await press(page, "Add price");
  await eventually(async () =>
    assert.equal(await page.getByLabel("Model, price 1").inputValue(), "small-judge"),
  );
  await becomesFocused(page.getByLabel("Model, price 1"));
  await page.getByLabel("Input, $, price 1").fill("0.25");
  await press(page, "Save");
  await page.getByText("Not saved. Fix the marked fields.").waitFor();
  await eventually(async () =>
    assert.equal(await page.getByLabel("Output, $, price 1").getAttribute("aria-invalid"), "true"),
  );
  await becomesFocused(page.getByLabel("Output, $, price 1"));
  await page.setViewportSize({ width: 320, height: 800 });
  await assertReflows(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByLabel("Output, $, price 1").fill("1.5");
  await page.getByLabel("Cached, $, price 1").fill("0.025");
  await press(page, "Save");
  await page.getByText("Prices saved").waitFor();
  await press(page, "Add price");
  await press(page, "Discard changes");
  await page.reload();
  await page.getByLabel("Output, $, price 1").waitFor();
  await eventually(async () => assert.equal(await page.getByLabel("Output, $, price 1").inputValue(), "1.5"));
  await eventually(async () => assert.equal(await page.getByLabel(/^Model, price/).count(), 1));
  assert.equal(await page.getByLabel("Cached, $, price 1").inputValue(), "0.025");
  assert.equal(await page.getByLabel("Cache write, $, price 1").inputValue(), "");
  await page.getByRole("button", { name: "Remove price 1" }).click();
  await becomesFocused(page.getByRole("button", { name: "Add price" }));
  await press(page, "Save");
  await page.getByText("Prices saved").waitFor();
  await page.getByRole("heading", { name: "No prices of your own" }).waitFor();
  const body = await owner.client.read(`/api/projects/${owner.projectId}/judge/prices`);
  assert.deepEqual(body.own, []);
  assert.deepEqual(complaints, []);
});

/** The scripted server's judge, as the API expects it. */
function typed(): object {
  return { provider: "openai_compatible", url: judge.url, model: "small-judge" };
}

test("the environment's judge is shown, can be tested, and can be replaced by the project's own", async () => {
  const inherited = await startTestBrowser({
    config: { roles: ["http"], judge: judge.connection({ model: "house-judge" }) },
  });
  try {
    const owner = await inherited.service.signUp();
    const { page } = await inherited.openAs(owner, { path: `/projects/${owner.projectId}/settings/judge` });
    await inForce(page).getByText("Set in the service’s environment").waitFor();
    await inForce(page).getByText("house-judge").waitFor();
    await eventually(async () => assert.equal(await page.getByLabel(/^Model/).count(), 0));
    await press(page, "Test connection");
    await page.getByText("The judge works.").waitFor();
    await inForce(page).getByText("JSON schema", { exact: true }).first().waitFor();
    await press(page, "Use a different judge");
    await fill(page, "OpenAI-compatible server");
    await press(page, "Save");
    await inForce(page).getByText("small-judge").waitFor();
    await page
      .getByText(/The judge from the environment, house-judge, is used instead/)
      .first()
      .waitFor();
    await page.goto("/settings/judge");
    await page.getByRole("link", { name: "Judge for “My project”" }).click();
    await inForce(page).getByText("small-judge").waitFor();
  } finally {
    await inherited.close();
  }
});

test("a server that counts far fewer tokens than were sent is noticed until a test counts them right", async () => {
  judge.script = counting(4_096, obliging());
  const { page } = await openJudge();
  await fill(page, "OpenAI-compatible server");
  await press(page, "Save");
  await inForce(page).getByText("small-judge").waitFor();
  await press(page, "Test connection");
  await page.getByText("The judge works, but its server counted only 4,096 of about").waitFor();
  await inForce(page).getByText("its context may be cut:").waitFor();
  await page.setViewportSize({ width: 320, height: 800 });
  await assertReflows(page);
  judge.script = obliging();
  await press(page, "Test connection");
  await page.getByText("The judge works.").waitFor();
  await inForce(page).getByText("its context may be cut:").waitFor({ state: "detached" });
});
