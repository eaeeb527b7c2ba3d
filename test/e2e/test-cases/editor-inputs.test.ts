// Browser tests of a test's inputs in the editor: rows by keyboard and paste, files, traces, and several turns.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../../support/accessible.ts";
import { makeTest } from "../../support/app.ts";
import { assertReflows, becomesFocused, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { shoot } from "../../support/shoot.ts";
import { documentIn, openSection, openWorld, orderSpans, saveButton } from "./editor-world.ts";

const browser = useBrowser();

const row = (page: Page, at: number) => page.getByLabel(`Input ${at}`, { exact: true });

async function inputsAre(page: Page, ...expected: string[]): Promise<void> {
  await eventually(async () => {
    const { inputs = [] } = await documentIn(page);
    assert.deepEqual(
      inputs.map(({ input }: { input: string }) => input),
      expected,
    );
  });
}

/** Pastes into the field that has the focus, as a spreadsheet or a text editor puts it on the clipboard. */
async function paste(page: Page, text: string, html = ""): Promise<void> {
  await page.evaluate(`{
    const data = new DataTransfer();
    data.setData("text/plain", ${JSON.stringify(text)});
    data.setData("text/html", ${JSON.stringify(html)});
    const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(event);
  }`);
}

test("inputs are written like cells of a spreadsheet, and a second turn asks which of the two to keep", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent, complaints } = world;
  const { id } = await makeTest(owner, agent.id);
  await world.open(`/${id}`);
  await openSection(page, "The user says");
  await shoot(page, "inputs-empty");
  await page.getByRole("button", { name: "Add input" }).click();
  await becomesFocused(row(page, 1));
  await page.keyboard.type("Where is my order?");
  await page.keyboard.press("Enter");
  await becomesFocused(row(page, 2));
  await paste(page, 'Cancel it\tA-1\r\n"Two\nlines"\tA-2\r\nאיפה ההזמנה שלי?\tA-3\r\n', "<table><tr><td>");
  await page.getByText("Pasted 3 inputs from the first of 2 columns.").waitFor();
  await inputsAre(page, "Where is my order?", "Cancel it", "Two\nlines", "איפה ההזמנה שלי?");
  await becomesFocused(row(page, 4));
  await page.keyboard.press("Enter");
  await page.keyboard.press("Backspace");
  await becomesFocused(row(page, 4));
  await page.getByLabel("Repeats").fill("3");
  await page.getByText("4 inputs × 3 repeats = 12 test runs").waitFor();
  await shoot(page, "inputs");

  await page.getByRole("button", { name: "Add another turn" }).click();
  await page.getByText("Inputs need exactly one turn. This test has 2.").waitFor();
  await shoot(page, "inputs-turns");
  await assertAccessible(page);
  await page.getByRole("button", { name: "Keep turn 1 only" }).click();
  await page.getByRole("button", { name: "Keep turn 1 only" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Remove input 2" }).click();
  await saveButton(page).click();
  await page.getByText("Saved. Applies to new traces only.").waitFor();
  const body = await owner.client.read(`/api/tests/${id}`);
  assert.deepEqual(
    [body.inputs!.map(({ input }: { input: string }) => input), body.repeats, body.turns.length],
    [["Where is my order?", "Two\nlines", "איפה ההזמנה שלי?"], 3, 1],
  );
  assert.deepEqual(complaints, []);
});

/** The editor of a test with one input, and the focus in a second, empty row. */
async function openSecondRow(): Promise<Page> {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { id } = await makeTest(owner, agent.id, { inputs: [{ input: "First" }] });
  await world.open(`/${id}`);
  await openSection(page, "The user says");
  await row(page, 1).press("Enter");
  await becomesFocused(row(page, 2));
  return page;
}

test("pasted inputs become one again without losing what was typed since", async () => {
  const page = await openSecondRow();
  await paste(page, "Cancel it\nand tell me when\n");
  await inputsAre(page, "First", "Cancel it", "and tell me when");
  await row(page, 1).fill("First, edited");
  await row(page, 3).press("Enter");
  await becomesFocused(row(page, 4));
  await row(page, 4).fill("Last");
  await page.getByRole("button", { name: "Paste as one input" }).click();
  await inputsAre(page, "First, edited", "Cancel it\nand tell me when\n", "Last");
});

test("what is typed while a paste still loads is kept, and typed on after the pasted inputs", async () => {
  const page = await openSecondRow();
  let release = () => {};
  const typed = new Promise<void>(resolve => {
    release = resolve;
  });
  let isHeld = false;
  await page.route("**/pasted-*.js", async route => {
    isHeld = true;
    await typed;
    await route.continue();
  });
  await paste(page, "Cancel it\nTell me when\n");
  await page.keyboard.type("Typed");
  await eventually(() => assert.ok(isHeld));
  release();
  await inputsAre(page, "First", "Cancel it", "Tell me when", "Typed");
  await becomesFocused(row(page, 4));
  await page.keyboard.type(" on");
  await inputsAre(page, "First", "Cancel it", "Tell me when", "Typed on");
});

test("a file is shown before it is imported, with what is left out, and an export comes back as it was", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { id } = await makeTest(owner, agent.id, { inputs: [{ input: "Hi" }] });
  await world.open(`/${id}`);
  await openSection(page, "The user says");
  const choose = async (name: string, text: string) => {
    await page.getByRole("button", { name: "Import…" }).click();
    const dialog = page.getByRole("dialog", { name: "Import inputs" });
    await dialog.getByLabel("File").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
    return dialog;
  };
  const long = "x".repeat(100_001);
  const dialog = await choose(
    "questions.csv",
    `\u{FEFF}id;question\r\n1;Hi\r\n2;"=1+1; really?"\r\n3; \r\n4;Bye\r\n5;Bye\r\n6;${long}\r\n7;a;b\r\n`,
  );
  await dialog.getByText("2 new inputs").waitFor();
  await dialog.getByText("Skipped: 2 duplicates, 1 blank.").waitFor();
  await dialog.getByText("Line 7: 100,001 characters. The limit is 100,000.").waitFor();
  await dialog.getByText("Line 8: 3 cells, but the header has 2.", { exact: false }).waitFor();
  await eventually(async () => assert.equal(await dialog.getByLabel("Column").inputValue(), "1"));
  await shoot(page, "inputs-import");
  await assertAccessible(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await shoot(page, "inputs-import-narrow");
  await page.setViewportSize({ width: 1440, height: 900 });
  await dialog.getByRole("button", { name: "Import 2 inputs" }).click();
  await inputsAre(page, "Hi", "=1+1; really?", "Bye");

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export CSV" }).click();
  const csv = await readFile(await (await download).path(), "utf8");
  assert.equal(csv, `\u{FEFF}input\r\nHi\r\n"'=1+1; really?"\r\nBye\r\n`);
  await page.getByRole("button", { name: "Remove all" }).click();
  await inputsAre(page);
  await (await choose("inputs.csv", csv)).getByRole("button", { name: "Import 3 inputs" }).click();
  await inputsAre(page, "Hi", "=1+1; really?", "Bye");

  const jsonl = await choose("more.jsonl", '{"input": "One", "id": "a"}\n"Two"\n{"id": "b"}\n');
  await jsonl.getByText("Line 3: No field “input”.").waitFor();
  await jsonl.getByLabel("Replace").check();
  await jsonl.getByRole("button", { name: "Import 2 inputs" }).click();
  await inputsAre(page, "One", "Two");
});

test("a thousand inputs scroll and save, and an error leads to its row", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const inputs = Array.from({ length: 1_000 }, (_, at) => ({ input: `Question ${at + 1}` }));
  inputs[1] = { input: "y".repeat(100_000) };
  const { id } = await makeTest(owner, agent.id, { inputs });
  await world.open(`/${id}`);
  await openSection(page, "The user says");
  await page.getByText("1,000 inputs = 1,000 test runs").waitFor();
  const rendered = await page.locator("textarea[data-row]").count();
  assert.ok(rendered < 40, `${rendered} rows`);
  await shoot(page, "inputs-many");
  await row(page, 1).focus();
  await row(page, 1).fill("");
  await page.keyboard.press("ArrowDown");
  await becomesFocused(row(page, 2));
  await page.locator(".inputs").evaluate(element => element.scrollTo(0, element.scrollHeight));
  await row(page, 1_000).waitFor();
  await saveButton(page).click();
  await page.getByRole("alert").getByRole("button", { name: "inputs[0].input" }).click();
  await becomesFocused(row(page, 1));
  await page.keyboard.type("A question");
  await saveButton(page).click();
  await page.getByText("Saved. Applies to new traces only.").waitFor();
  const body = await owner.client.read(`/api/tests/${id}`);
  assert.deepEqual([body.inputs!.length, body.inputs![0]!.input], [1_000, "A question"]);
});

test("the inputs of live traces are picked whole", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const ask = (text: string) =>
    world.send(
      orderSpans.map(span =>
        "gen_ai.prompt" in span.attributes
          ? { ...span, attributes: { ...span.attributes, "gen_ai.prompt": text } }
          : span,
      ),
    );
  const long = `Tell me more about ${"everything ".repeat(2_000)}`.trim();
  await ask(long);
  await ask("Cancel my order");
  const { id } = await makeTest(owner, agent.id, { inputs: [{ input: "Cancel my order" }] });
  await world.open(`/${id}`);
  await openSection(page, "The user says");
  await page.getByRole("button", { name: "Pick from traces…" }).click();
  const dialog = page.getByRole("dialog", { name: "Pick from traces" });
  await dialog.getByText("Select all 3 shown").waitFor();
  await shoot(page, "inputs-pick");
  await assertAccessible(page);
  await dialog.getByLabel("Search").fill("everything");
  await dialog.getByText("Select all 1 shown").click();
  await dialog.getByLabel("Search").fill("Cancel");
  await dialog.getByRole("checkbox", { name: /Cancel my order/ }).check();
  await dialog.getByRole("button", { name: "Add 2 inputs" }).click();
  await inputsAre(page, "Cancel my order", long);
});

test("undoing the removal of all inputs keeps what was typed since", async () => {
  const world = await openWorld(browser);
  const { page, owner, agent } = world;
  const { id } = await makeTest(owner, agent.id, { inputs: [{ input: "First" }, { input: "Second" }] });
  await world.open(`/${id}`);
  await openSection(page, "The user says");
  await page.getByRole("button", { name: "Remove all", exact: true }).click();
  await page.getByRole("button", { name: "Add input" }).click();
  await row(page, 1).fill("Typed since");
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await inputsAre(page, "First", "Second", "Typed since");
});
