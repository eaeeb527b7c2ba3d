// Erasing a user in the dashboard: the dry run, links to tests and views that have the value, the number to confirm, the record.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeKey, makeTest } from "../../support/app.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { send, traceIdOf } from "../../support/send.ts";
import { shoot } from "../../support/shoot.ts";

const browser = useBrowser();

test("a user is found, confirmed by number and erased, what else has the value is linked, and the record names nobody", async () => {
  const { service } = browser;
  const owner = await service.signUp();
  const { projectId, client } = owner;
  const agent = await makeAgent(owner);
  const { key } = await makeKey(owner);
  const user = "jane@example.com";
  const traceIds: string[] = [];
  for (const id of [user, user, "john@example.com"]) {
    const attributes = { "user.id": id, "gen_ai.prompt": `I am ${id}` };
    const body = canonicalBody(agent.id, { spans: [canonicalSpan({ attributes })] });
    traceIds.push(traceIdOf(await send({ url: service.url, key }, { body })));
  }
  const drafted = await makeTest(owner, agent.id, { name: "Like hers", draftedFrom: traceIds[0] });
  const asksJane = await makeTest(owner, agent.id, { name: "Greets", turns: [{ input: `I am ${user}` }] });
  const view = { name: "One user", search: { userId: user } };
  await client.post(`/api/agents/${agent.id}/trace-views`, view).expect(200);

  const path = `/projects/${projectId}/settings/erasures`;
  const { page, complaints } = await browser.openAs(owner, { path });
  await page.getByText("None yet.").waitFor();
  await shoot(page, "erase-empty");
  await page.getByLabel("Find by").selectOption("text");
  await page.getByRole("textbox", { name: "Text" }).fill("abc");
  await page.getByRole("button", { name: "Find data" }).click();
  await page.getByText("Must have at least 4 characters.").waitFor();
  await shoot(page, "erase-error");

  await page.getByLabel("Find by").selectOption("userId");
  await page.getByRole("textbox", { name: "User ID" }).fill(user);
  await page.getByRole("button", { name: "Find data" }).click();
  await page.getByRole("heading", { name: "2 traces found" }).waitFor();
  await page.getByRole("heading", { name: "Also mentions" }).waitFor();
  const links = page.locator("main a[target=_blank]");
  assert.deepEqual(
    await links.evaluateAll(all => all.map(link => [link.textContent, link.getAttribute("href")])),
    [
      ["Like hers", `/projects/${projectId}/agents/${agent.id}/tests/${drafted.id}`],
      ["Greets", `/projects/${projectId}/agents/${agent.id}/tests/${asksJane.id}`],
      ["One user", `/projects/${projectId}/agents/${agent.id}/traces`],
    ],
  );
  await page.getByText("Drafted from a found trace").waitFor();
  await shoot(page, "erase-found");
  await assertReflows(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await shoot(page, "erase-found-390");
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByLabel("Type 2 to confirm").fill("3");
  await page.getByRole("button", { name: "Erase 2 traces" }).click();
  await page.getByText("The number does not match.").waitFor();
  await page.getByLabel("Type 2 to confirm").fill("2");
  await page.getByRole("button", { name: "Erase 2 traces" }).click();
  await page.getByText("2 traces erased.").waitFor();
  await page.getByRole("heading", { name: "User ID: 2 traces" }).waitFor();
  await page.getByText("Done").waitFor();
  await shoot(page, "erase-done");
  // Neither the record nor the screen has it, but for the field where it was typed.
  assert.equal((await page.locator("main").innerText()).includes(user), false);

  const { items } = await client.read(`/api/agents/${agent.id}/traces`);
  assert.deepEqual(
    items.map(({ userId }) => userId),
    ["john@example.com"],
  );

  // A search that fails leaves no earlier result to confirm, and a text that no trace has may be quoted by results of tests.
  await makeTest(owner, agent.id, { name: "Only a test", turns: [{ input: "I am Nobody Else" }] });
  const find = async (text: string) => {
    await page.getByLabel("Find by").selectOption("text");
    await page.getByRole("textbox", { name: "Text" }).fill(text);
    await page.getByRole("button", { name: "Find data" }).click();
  };
  await find("john@example.com");
  await page.getByRole("heading", { name: "1 trace found" }).waitFor();
  await page.route("**/erasures", route => route.abort());
  await find("Nobody Else");
  await page.getByText("Cannot reach the server").waitFor();
  assert.equal(await page.getByRole("heading", { name: "1 trace found" }).count(), 0);
  await page.unroute("**/erasures");
  await find("Nobody Else");
  await page.getByRole("heading", { name: "No traces found" }).waitFor();
  await page.getByRole("link", { name: "Only a test" }).waitFor();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Erase quotes" }).click();
  await page.getByText("0 traces erased.").waitFor();
  await page.getByRole("link", { name: "Ingestion log" }).click();
  await page.waitForURL(/\/ingestion$/);
  assert.deepEqual(complaints, ["Failed to load resource: net::ERR_FAILED"]);
});
