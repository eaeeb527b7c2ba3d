// Settings that are saved elsewhere while a form is open: the form says so, and overwrites them only if it is sent again.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeKey } from "../../support/app.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { shoot } from "../../support/shoot.ts";

const browser = useBrowser({ config: { roles: ["http"] } });

type Form = {
  /** Of the agent's settings if it is not given. */
  page?: "settings" | "settings/judge" | "settings/prices" | "settings/privacy";
  card: (page: Page) => Locator;
  button: string;
  /** Below the agent or the project. */
  url: string;
  method?: "patch";
  /** What was saved before, what is saved elsewhere, and what the user enters. */
  values: [before: string, theirs: string, mine: string];
  body: (value: string) => object;
  // biome-ignore lint/suspicious/noExplicitAny: any answer.
  stored: (answer: any) => unknown;
  /** Of the field with the value; without it, the value is a choice. */
  label?: string | RegExp;
};

const region = (name: string) => (page: Page) => page.getByRole("region", { name, exact: true });
const agentForm = { url: "", method: "patch" } as const;
const targets: Form["values"] = ["https://a.example/", "https://b.example/", "https://c.example/"];

const forms: Record<string, Form> = {
  "an agent": {
    ...agentForm,
    card: page => page.locator("form").filter({ hasText: "OTLP service name" }),
    button: "Save",
    values: ["Before", "Theirs", "Mine"],
    body: name => ({ name }),
    stored: ({ name }) => name,
    label: "Name",
  },
  "a connection": {
    card: region("Connection"),
    button: "Save connection",
    url: "/connection",
    values: targets,
    body: url => ({
      type: "http_api",
      method: "POST",
      url,
      bodyTemplate: '{"message":"{{input}}"}',
      reply: { kind: "text" },
      headers: [],
      waitMs: 15_000,
      concurrency: 2,
    }),
    stored: ({ connection }) => connection.url,
    label: "URL",
  },
  conventions: {
    ...agentForm,
    card: page => page.getByRole("form", { name: "Conventions" }),
    button: "Save conventions",
    values: ["spring_ai", "langwatch", "*"],
    body: name => ({ conventions: [name] }),
    stored: ({ conventions }) => conventions.join(),
  },
  "own rules": {
    ...agentForm,
    card: region("Own rules"),
    button: "Save rules",
    values: ["app.a", "app.b", "app.c"],
    body: from => ({ conventionRules: [{ from, to: "user.id" }] }),
    stored: ({ conventionRules }) => conventionRules[0].from,
    label: "Attribute, rule 1",
  },
  "what content is stored": {
    ...agentForm,
    card: region("Content"),
    button: "Save content setting",
    values: ["keep", "none", "forget"],
    body: content => ({ content, contentForgetAfterSeconds: null }),
    stored: ({ content }) => content,
  },
  "attributes to drop": {
    ...agentForm,
    card: region("Attributes"),
    button: "Save attribute settings",
    values: ["app.a", "app.b", "app.c"],
    body: key => ({ attributes: { deny: [key], allow: null } }),
    stored: ({ attributes }) => attributes.deny.join(),
    label: "Keys to drop",
  },
  "a webhook": {
    card: region("Alerts"),
    button: "Save webhook",
    url: "/webhook",
    values: targets,
    body: url => ({ url }),
    stored: ({ webhook }) => webhook.url,
    label: "Webhook URL",
  },
  "judge settings": {
    card: region("Judge settings"),
    button: "Save judge settings",
    url: "/judge-settings",
    values: ["50", "25", "10"],
    body: percent => ({ sampling: Number(percent) / 100, budgetUsd: null, budgetTokens: null }),
    stored: ({ sampling }) => String(sampling * 100),
    label: "Sampling (percent)",
  },
  "a judge": {
    page: "settings/judge",
    card: region("Connection"),
    button: "Save",
    url: "/judge",
    values: ["model-a", "model-b", "model-c"],
    body: model => ({ provider: "openai", model, apiKey: "sk-1" }),
    stored: ({ model }) => model,
    label: "Model",
  },
  prices: {
    page: "settings/prices",
    card: region("This project’s prices"),
    button: "Save",
    url: "/judge/prices",
    values: ["model-a", "model-b", "model-c"],
    body: model => ({ prices: [{ model, validFrom: "2026-01-01", inputUsd: 1, outputUsd: 2 }] }),
    stored: ({ own }) => own[0].model,
    label: "Model, price 1",
  },
  "privacy settings": {
    page: "settings/privacy",
    card: page => page.locator(".privacy"),
    button: "Save privacy settings",
    url: "/privacy",
    values: ["app.a", "app.b", "app.c"],
    body: key => ({
      builtIn: [],
      rules: [],
      pseudonyms: [key],
      judgeRules: [],
      judgeSeesToolResults: true,
    }),
    stored: ({ pseudonyms }) => pseudonyms.join(),
    label: "Attributes to pseudonymize",
  },
  "a project": {
    ...agentForm,
    page: "settings",
    card: page => page.locator("section").filter({ has: page.getByLabel("Name", { exact: true }) }),
    button: "Save",
    values: ["Before", "Theirs", "Mine"],
    body: name => ({ name }),
    stored: ({ name }) => name,
    label: "Name",
  },
  "a rate limit": {
    page: "settings",
    card: region("Rate limit"),
    button: "Save rate limit",
    url: "/rate-limit",
    values: ["30", "40", "60"],
    body: limit => ({ requestsPerMinute: Number(limit) }),
    stored: ({ requestsPerMinute }) => String(requestsPerMinute),
    label: /^Requests per minute/,
  },
  retention: {
    page: "settings",
    card: region("Retention"),
    button: "Save retention",
    url: "/retention",
    values: ["30", "40", "60"],
    body: days => ({ days: Number(days) }),
    stored: ({ days }) => String(days),
    label: /^Delete traces after/,
  },
};

const elsewhere = "These settings were saved elsewhere since you opened them.";

for (const [name, form] of Object.entries(forms)) {
  test(`${name} saved elsewhere: the form says so, and the user loads or overwrites what was saved`, async () => {
    const { page, save, assertStored, complaints } = await open(form);
    const [before, theirs, mine] = form.values;
    const card = form.card(page);
    const field = form.label === undefined ? undefined : card.getByLabel(form.label, { exact: true });
    const enter = () => field?.fill(mine) ?? card.locator(`input[value="${mine}"]`).check();
    const shown = () => (field ?? card.locator("input:checked").first()).inputValue();
    const notice = card.getByText(elsewhere);
    const submit = card.getByRole("button", { name: form.button, exact: true });
    const discard = card.getByRole("button", { name: "Discard changes" });

    await enter();
    await save(theirs);
    await submit.click();
    await notice.waitFor();
    await assertStored(theirs);
    await assertAccessible(page);
    await shoot(page, `saved-elsewhere-${name.replaceAll(" ", "-")}`);
    await page.setViewportSize({ width: 390, height: 844 });
    await assertReflows(page);
    await shoot(page, `saved-elsewhere-${name.replaceAll(" ", "-")}-390`);
    await discard.click();
    await notice.waitFor({ state: "detached" });
    await discard.waitFor({ state: "detached" });
    assert.equal(await shown(), theirs);

    await enter();
    await save(before);
    await submit.click();
    await notice.waitFor();
    await assertStored(before);
    await submit.click();
    await notice.waitFor({ state: "detached" });
    await eventually(() => assertStored(mine));
    assert.equal(await shown(), mine);
    assert.deepEqual(complaints, []);
  });
}

test("what is typed stays while another section is saved, also if the same settings were saved elsewhere", async () => {
  const { content, attributes } = {
    content: forms["what content is stored"]!,
    attributes: forms["attributes to drop"]!,
  };
  const { page, save } = await open(content);
  const card = content.card(page);
  await card.getByLabel("Evaluate, then forget content").check();
  await card.getByLabel("Drop content after").selectOption("Custom");
  await card.getByLabel("Amount").fill("45");
  await save("none");
  await attributes.card(page).getByLabel("Drop these").check();
  await attributes.card(page).getByLabel("Keys to drop").fill("app.a");
  await attributes.card(page).getByRole("button", { name: attributes.button }).click();
  await page.getByText("Attribute settings saved").waitFor();
  await card.getByText(elsewhere).waitFor();
  assert.equal(await card.getByLabel("Amount").inputValue(), "45");
});

test("fields of an agent that only one of two tabs changed are both kept, without a warning", async () => {
  const form = forms["an agent"]!;
  const { page, owner, agentPath } = await open(form);
  const card = form.card(page);
  const [name, serviceName] = [
    card.getByLabel("Name", { exact: true }),
    card.getByLabel(/^OTLP service name/),
  ];
  const notice = card.getByText(elsewhere);
  const submit = card.getByRole("button", { name: "Save", exact: true });
  const stored = async () => {
    const body = await owner.client.read(agentPath);
    return [body.name, body.otlpServiceName];
  };
  await name.fill("Mine");
  await owner.client.patch(agentPath, { otlpServiceName: "theirs" }).expect(200);
  await submit.click();
  await page.getByText("Agent saved").waitFor();
  assert.deepEqual(await stored(), ["Mine", "theirs"]);
  await eventually(async () => assert.equal(await serviceName.inputValue(), "theirs"));
  assert.equal(await notice.count(), 0);

  await name.fill("Mine again");
  await owner.client.patch(agentPath, { name: "Theirs", otlpServiceName: "new" }).expect(200);
  await submit.click();
  await notice.waitFor();
  assert.deepEqual(await stored(), ["Theirs", "new"]);
  assert.deepEqual([await name.inputValue(), await serviceName.inputValue()], ["Mine again", "new"]);
  await submit.click();
  await notice.waitFor({ state: "detached" });
  await eventually(async () => assert.deepEqual(await stored(), ["Mine again", "new"]));
});

test("a key's rate limit saved elsewhere: its dialog says so, and the user loads or overwrites it", async () => {
  const owner = await browser.service.signUp();
  const { id } = await makeKey(owner, { name: "exporter", requestsPerMinute: 30 });
  const path = `/projects/${owner.projectId}/keys`;
  const { page, complaints } = await browser.openAs(owner, { path });
  const save = (requestsPerMinute: number) =>
    owner.client.patch(`/api/keys/${id}`, { requestsPerMinute }).expect(200);
  const stored = async () => (await owner.client.read(`/api/keys/${id}`)).requestsPerMinute as number;
  await page.getByRole("button", { name: "Rate limit of exporter" }).click();
  const dialog = page.getByRole("dialog", { name: "Rate limit" });
  const field = dialog.getByLabel(/^Requests per minute/);
  const notice = dialog.getByText(elsewhere);
  const submit = dialog.getByRole("button", { name: "Save limit" });

  await field.fill("60");
  await save(40);
  await submit.click();
  await notice.waitFor();
  assert.equal(await stored(), 40);
  await assertAccessible(page);
  await shoot(page, "saved-elsewhere-key-limit");
  await page.setViewportSize({ width: 390, height: 844 });
  await assertReflows(page);
  await shoot(page, "saved-elsewhere-key-limit-390");
  await dialog.getByRole("button", { name: "Discard changes" }).click();
  await notice.waitFor({ state: "detached" });
  assert.equal(await field.inputValue(), "40");

  await field.fill("60");
  await save(30);
  await submit.click();
  await notice.waitFor();
  await submit.click();
  await dialog.waitFor({ state: "detached" });
  assert.equal(await stored(), 60);
  assert.deepEqual(complaints, []);
});

test("a service name saved elsewhere: Get started says so, and the user loads or overwrites it", async () => {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: "Shop assistant" });
  const path = `/projects/${owner.projectId}/agents/${agent.id}/start`;
  const { page, complaints } = await browser.openAs(owner, { path });
  const save = (otlpServiceName: string | null) =>
    owner.client.patch(`/api/agents/${agent.id}`, { otlpServiceName }).expect(200);
  const stored = async () => (await owner.client.read(`/api/agents/${agent.id}`)).otlpServiceName;
  const card = page.getByRole("region", { name: "1. Agent" });
  const field = card.getByLabel("OTLP service name");
  const notice = card.getByText(elsewhere);
  const submit = card.getByRole("button", { name: "Save service name" });

  assert.equal(await field.inputValue(), "shop-assistant");
  await field.fill("mine");
  await save("theirs");
  await submit.click();
  await notice.waitFor();
  assert.equal(await stored(), "theirs");
  await shoot(page, "saved-elsewhere-service-name");
  await page.setViewportSize({ width: 390, height: 844 });
  await assertReflows(page);
  await shoot(page, "saved-elsewhere-service-name-390");
  await card.getByRole("button", { name: "Discard changes" }).click();
  await field.waitFor({ state: "detached" });
  await card.getByText("theirs", { exact: true }).waitFor();

  await save(null);
  await page.reload();
  await field.waitFor();
  await save("theirs");
  await submit.click();
  await page.getByText("Loaded settings that were saved elsewhere").waitFor();
  await field.waitFor({ state: "detached" });
  assert.equal(await stored(), "theirs");

  await save(null);
  await page.reload();
  await field.fill("mine");
  await save("theirs");
  await submit.click();
  await notice.waitFor();
  await submit.click();
  await field.waitFor({ state: "detached" });
  await card.getByText("mine", { exact: true }).waitFor();
  assert.equal(await stored(), "mine");
  assert.deepEqual(complaints, []);
});

test("Save without changes loads what was saved elsewhere", async () => {
  const webhook = forms["a webhook"]!;
  const { page, save, assertStored } = await open(webhook);
  const card = webhook.card(page);
  await card.getByRole("button", { name: "Send a test" }).waitFor();
  await save("https://b.example/");
  await card.getByRole("button", { name: webhook.button }).click();
  await page.getByText("Loaded settings that were saved elsewhere").waitFor();
  assert.equal(await card.getByLabel("Webhook URL").inputValue(), "https://b.example/");
  await assertStored("https://b.example/");
});

async function open(form: Form) {
  const { service } = browser;
  const owner = await service.signUp();
  const agent = await makeAgent(owner);
  const project = `/projects/${owner.projectId}`;
  const url = `/api${form.page ? project : `/agents/${agent.id}`}${form.url}`;
  const save = (value: string) => owner.client[form.method ?? "put"](url, form.body(value)).expect(200);
  const assertStored = async (value: string) =>
    assert.equal(form.stored(await owner.client.read(url)), value);
  await save(form.values[0]);
  const path = `${project}/${form.page ?? `agents/${agent.id}/settings`}`;
  const window = await browser.openAs(owner, { path });
  return { ...window, save, assertStored, owner, agentPath: `/api/agents/${agent.id}` as const };
}
