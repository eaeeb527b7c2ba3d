// Browser tests of the scenario trial: cost, answers, and an unavailable judge.
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { makeTest } from "../../support/app.ts";
import { assertReflows, becomesTrue, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { type JudgeServer, obliging, refusal, startJudgeServer } from "../../support/judge-server.ts";
import { openSection, openWorld, type World } from "./editor-world.ts";

let judge: JudgeServer;
after(() => judge.close());
const browser = useBrowser(async () => {
  judge = await startJudgeServer();
  return {
    config: { roles: ["http"], judge: judge.connection({ model: "local" }) },
  };
});
beforeEach(() => {
  judge.script = obliging({
    label: (_, input) => (/refund/.test(input) ? "match" : /broken/.test(input) ? "unsure" : "no_match"),
  });
  judge.requests.length = 0;
});

async function openScenario(): Promise<World> {
  const world = await openWorld(browser);
  for (const input of ["I want a refund", "It is <b>broken</b>", "It is broken", "It is  broken", "Hello"]) {
    await world.send([{ span_id: "root", name: "chat", attributes: { "gen_ai.prompt": input } }]);
  }
  const { id } = await makeTest(world.owner, world.agent.id, {
    passiveBehavior: "run_when_relevant",
    scenario: "The user wants their money back.",
  });
  await world.open(`/${id}`);
  return world;
}

test("a scenario trial shows its cost first, then the answers with links to their traces", async () => {
  const { page, complaints } = await openScenario();
  const panel = page.getByRole("region", { name: "Try scenario on recent inputs" });
  await openSection(page, "Scenario");
  await page
    .getByRole("form", { name: "Form" })
    .getByRole("button", { name: "Try on recent inputs" })
    .click();
  await becomesTrue(page, "document.activeElement.id === 'try-scenario-heading'");
  await panel.getByText("5 distinct inputs in the latest 6 traces").waitFor();
  assert.equal(judge.requests.length, 0, "nothing is asked for an estimate");
  await panel.getByRole("button", { name: "Ask the judge" }).click();
  const inputs = panel.getByRole("list", { name: "Inputs" }).getByRole("listitem");
  await inputs.first().waitFor();
  assert.equal(judge.requests.length, 5, "an input to a prompt");
  await eventually(async () =>
    assert.match(await inputs.nth(0).innerText(), /No match[\s\S]*Hello[\s\S]*as scripted/),
  );
  await eventually(async () => assert.match(await inputs.nth(1).innerText(), /Unsure\s*2 traces/));
  await eventually(async () => assert.match(await inputs.nth(2).innerText(), /It is <b>broken<\/b>/));

  await panel.getByRole("link", { name: /^Match 1/ }).click();
  await page.waitForURL(/inputs=match/);
  await becomesTrue(page, "document.querySelectorAll('.tried-input').length === 1");
  await page.setViewportSize({ width: 320, height: 800 });
  await page.getByRole("link", { name: "Dry run" }).click();
  await inputs.first().waitFor();
  await assertReflows(page);
  await inputs.getByRole("link", { name: "Trace of “I want a refund”" }).click();
  await page.waitForURL(/\/traces\//);
  assert.deepEqual(complaints, []);
});

test("answers of a scenario that has changed since are marked as outdated", async () => {
  const { page } = await openScenario();
  const panel = page.getByRole("region", { name: "Try scenario on recent inputs" });
  await panel.getByRole("button", { name: "Try on recent inputs" }).click();
  await panel.getByRole("button", { name: "Ask the judge" }).click();
  await panel.getByText("5 inputs answered").waitFor();
  await openSection(page, "Scenario");
  await page.getByLabel("Scenario", { exact: true }).fill("The user is angry.");
  await panel.getByText("Outdated: the scenario has changed.").waitFor();
  await panel.getByRole("button", { name: "Try on recent inputs" }).click();
  await panel.getByRole("button", { name: "Ask the judge" }).waitFor();
  await panel.getByRole("button", { name: "Cancel" }).click();
  await panel.getByRole("button", { name: "Try on recent inputs" }).waitFor();
});

test("when the judge is unavailable, the reason is shown and the remaining inputs can be retried", async () => {
  const { page } = await openScenario();
  judge.script = () => refusal(401);
  const panel = page.getByRole("region", { name: "Try scenario on recent inputs" });
  await panel.getByRole("button", { name: "Try on recent inputs" }).click();
  await panel.getByRole("button", { name: "Ask the judge" }).click();
  await panel.getByText("The judge is unavailable.").waitFor();
  await panel.getByRole("button", { name: "Ask about the remaining 5" }).waitFor();
});

test("an agent without traces has nothing to try a scenario on", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent, traceId } = world;
  await owner.client.delete(`/api/traces/${traceId}`).expect(204);
  const { id } = await makeTest(owner, agent.id, { scenario: "The user wants their money back." });
  await world.open(`/${id}`);
  const panel = page.getByRole("region", { name: "Try scenario on recent inputs" });
  await panel.getByRole("button", { name: "Try on recent inputs" }).click();
  await panel.getByText("This agent has no traces yet").waitFor();
  await eventually(async () =>
    assert.equal(await panel.getByRole("button", { name: "Ask the judge" }).count(), 0),
  );
});
