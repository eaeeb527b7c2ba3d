// Browser tests of criteria and strictness in the editor, with and without a judge.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeTest } from "../../support/app.ts";
import { assertReflows, becomesTrue, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import {
  addAssertion,
  card,
  documentIn,
  openCard,
  openSection,
  openWorld,
  saveButton,
} from "./editor-world.ts";

const browser = useBrowser();

const focused = (name: string) =>
  `document.activeElement.getAttribute("aria-label") === ${JSON.stringify(name)}`;

test("criteria can be added, moved and removed by keyboard, and a single one is stored as a string", async () => {
  const world = await openWorld(browser);
  const { page } = world;
  await world.open("/new");
  await addAssertion(page, "Semantic");
  const criteriaIn = async () => (await documentIn(page)).assertions[0].criteria;
  const criterion = (at: number) => card(page, 1).getByLabel(`Criterion ${at}`, { exact: true });
  await card(page, 1).getByLabel("Criterion", { exact: true }).fill("Names the day.");
  await eventually(async () => assert.equal(await criteriaIn(), "Names the day."));

  const add = card(page, 1).getByRole("button", { name: "Add criterion" });
  await add.press("Enter");
  await page.keyboard.type("Is kind.");
  await add.press("Enter");
  await page.keyboard.type("Asks for the number.");
  await eventually(async () =>
    assert.deepEqual(await criteriaIn(), ["Names the day.", "Is kind.", "Asks for the number."]),
  );

  const up = card(page, 1).getByRole("button", { name: "Move criterion 3 up" });
  await up.press("Enter");
  await becomesTrue(page, focused("Move criterion 2 up"));
  await page.keyboard.press("Enter");
  await becomesTrue(page, focused("Move criterion 1 up"));
  await eventually(async () =>
    assert.deepEqual(await criteriaIn(), ["Asks for the number.", "Names the day.", "Is kind."]),
  );
  await page.keyboard.press("Enter");
  await eventually(async () =>
    assert.deepEqual(await criteriaIn(), ["Asks for the number.", "Names the day.", "Is kind."]),
  );
  await card(page, 1).getByRole("button", { name: "Move criterion 1 down" }).press("Enter");
  await eventually(async () =>
    assert.deepEqual(await criteriaIn(), ["Names the day.", "Asks for the number.", "Is kind."]),
  );

  await criterion(2).fill("");
  await saveButton(page).click();
  await card(page, 1).getByText("Must not be empty.").waitFor();
  await eventually(async () => assert.equal(await criterion(2).getAttribute("aria-invalid"), "true"));
  await assertAccessible(page);
  await card(page, 1).getByRole("button", { name: "Remove criterion 2" }).press("Enter");
  await becomesTrue(page, "document.activeElement.value === 'Is kind.'");
  await card(page, 1).getByRole("button", { name: "Remove criterion 2" }).press("Enter");
  await eventually(async () => assert.equal(await criteriaIn(), "Names the day."));

  for (let count = 1; count < 6; count++) await add.click();
  await eventually(async () => assert.equal((await criteriaIn()).length, 6));
  await eventually(async () => assert.equal(await add.count(), 0, "there is no room for a seventh"));
});

test("a criterion of several sentences shows a warning, can be split, and Undo rejoins it", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { id } = await makeTest(owner, agent.id, {
    assertions: [{ type: "semantic", criteria: "Names the day. Says who brings it." }],
  });
  await world.open(`/${id}`);
  await openCard(page, 1);
  await card(page, 1).getByText("This seems to ask for more than one thing").waitFor();
  await assertAccessible(page);
  await card(page, 1).getByRole("button", { name: "Split into 2 criteria" }).click();
  const split = ["Names the day.", "Says who brings it."];
  await eventually(async () => assert.deepEqual((await documentIn(page)).assertions[0].criteria, split));
  await card(page, 1).getByText("This seems to ask for more than one thing").waitFor({ state: "detached" });
  await card(page, 1).getByLabel("Reference reply (optional)").fill("Written meanwhile.");
  await page.getByRole("button", { name: "Undo" }).click();
  await eventually(async () => {
    const { criteria, reference } = (await documentIn(page)).assertions[0];
    assert.deepEqual([criteria, reference], [split.join(" "), "Written meanwhile."]);
  });
});

test("Undo of a split keeps criteria written since, and is withdrawn when a part of it changes", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const whole = "Names the day. Says who brings it.";
  const { id } = await makeTest(owner, agent.id, { assertions: [{ type: "semantic", criteria: whole }] });
  await world.open(`/${id}`);
  await openCard(page, 1);
  const split = card(page, 1).getByRole("button", { name: "Split into 2 criteria" });
  const undo = page.getByRole("button", { name: "Undo" });
  const criteriaIn = async () => (await documentIn(page)).assertions[0].criteria;
  await split.click();
  await card(page, 1).getByRole("button", { name: "Add criterion" }).click();
  await card(page, 1).getByLabel("Criterion 3", { exact: true }).fill("Is kind.");
  await undo.click();
  await eventually(async () => assert.deepEqual(await criteriaIn(), [whole, "Is kind."]));

  await split.click();
  await undo.waitFor();
  await card(page, 1).getByLabel("Criterion 2", { exact: true }).fill("Says who brings it, and when.");
  await undo.waitFor({ state: "detached" });
  await eventually(async () =>
    assert.deepEqual(await criteriaIn(), ["Names the day.", "Says who brings it, and when.", "Is kind."]),
  );
});

test("what criteria are shown by keeps to its criterion when criteria are moved or removed", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { id } = await makeTest(owner, agent.id, {
    assertions: [
      {
        type: "semantic",
        criteria: ["Names the day.", "Promises nothing."],
        rests_on: ["passage", "absence"],
      },
    ],
  });
  await world.open(`/${id}`);
  await openCard(page, 1);
  const fields = async () => {
    const { criteria, rests_on } = (await documentIn(page)).assertions[0];
    return [criteria, rests_on];
  };
  await card(page, 1).getByRole("button", { name: "Move criterion 2 up" }).click();
  await eventually(async () =>
    assert.deepEqual(await fields(), [
      ["Promises nothing.", "Names the day."],
      ["absence", "passage"],
    ]),
  );
  await card(page, 1).getByRole("button", { name: "Remove criterion 1" }).click();
  await eventually(async () => assert.deepEqual(await fields(), ["Names the day.", ["passage"]]));
});

test("strictness is explained by verdicts: the test's, or the assertion's own", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { id } = await makeTest(owner, agent.id, {
    assertions: [{ type: "semantic", criteria: ["Names the day.", "Is kind.", "Asks for the number."] }],
  });
  await world.open(`/${id}`);
  await openCard(page, 1);
  const one = card(page, 1);
  await one.getByText("The test’s strictness, 0.7: Passes even if all 3 are only mostly met").waitFor();
  await page.getByLabel("Strictness value").fill("1");
  await one.getByText("The test’s strictness, 1: Passes only if all 3 are fully met.").waitFor();
  await one.getByLabel("Strictness (optional)").fill("0.9");
  await one.getByText("0.9: Passes even if 1 is only mostly met").waitFor();
  await one.getByLabel("Rule").selectOption("not");
  await one.getByText("0.9: Fails if any criterion is fully met.").waitFor();
  await one.getByLabel("Strictness (optional)").fill("0");
  await one.getByText("Every score reaches 0, so this never passes.").waitFor();
  await page.setViewportSize({ width: 320, height: 800 });
  await assertReflows(page);
});

test("without a judge the editor explains what is skipped, and says nothing if the test needs no judge", async () => {
  const world = await openWorld(browser);
  const { page, traceId } = world;
  await world.open(`/new?trace=${traceId}`);
  const never = page.getByText("this test gives no verdict");
  await page.getByText(/^Evaluates new live traces once saved: every one/).waitFor();
  await openSection(page, "When it runs");
  await page.getByRole("radio", { name: /^Run when relevant/ }).check();
  await never.waitFor();
  await page.getByRole("button", { name: "Always run" }).click();
  await never.waitFor({ state: "detached" });
  await eventually(async () => assert.equal(await page.getByText("No judge is configured").count(), 0));
  await addAssertion(page, "Semantic");
  await page.getByText("No judge is configured, so semantic checks are skipped.").waitFor();
  await page.getByRole("form", { name: "Form" }).getByRole("link", { name: "Connect a judge" }).waitFor();
});

test("what the judge sees and what shows that criteria are met can be chosen, left to the judge, and set per criterion in the JSON", async () => {
  const world = await openWorld(browser);
  const { page, owner } = world;
  const assertion = { id: "a", type: "semantic", criteria: ["Names the day.", "Promises nothing."] };
  const made = await makeTest(owner, world.agent.id, { assertions: [assertion] });
  await world.open(`/${made.id}`);
  await openCard(page, 1);
  const shownBy = card(page, 1).getByLabel("Shown by (optional)");
  const restsOn = async () => (await documentIn(page)).assertions[0].rests_on;
  await eventually(async () => assert.equal(await shownBy.inputValue(), ""));
  await shownBy.selectOption("Something that is absent");
  await eventually(async () => assert.equal(await restsOn(), "absence"));
  const sees = card(page, 1).getByLabel("The judge sees (optional)");
  await card(page, 1).getByText("tool calls and their results: up to 24,000 characters").waitFor();
  await sees.selectOption("Reply only");
  await card(page, 1).getByText("The judge sees the user’s input and the reply.").waitFor();
  await eventually(async () => assert.equal((await documentIn(page)).assertions[0].context, "reply"));
  await shownBy.selectOption("Let the judge decide");
  await eventually(async () => assert.equal(await restsOn(), undefined));

  const each = { ...assertion, rests_on: ["passage", null] };
  const other = await makeTest(owner, world.agent.id, { name: "Each", assertions: [each] });
  await world.open(`/${other.id}`);
  await openCard(page, 1);
  await shownBy.getByText("Set in the JSON").waitFor({ state: "attached" });
  assert.deepEqual(await restsOn(), ["passage", null]);
});
