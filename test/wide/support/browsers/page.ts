// Finds elements by role and name, and uses them with mouse and keyboard, in any browser that has a driver.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { eventually } from "../../../support/eventually.ts";
import type { Driver, InputSource, Size } from "./driver.ts";
import { clickResult, finder } from "./finder.ts";

/** An element that is visible. Its name is the accessible name or the text; a string has to be all of it. */
export type Target = {
  role: string;
  name?: string | RegExp;
  /** Only inside this one. */
  within?: Target;
};

export type Box = { x: number; y: number; width: number; height: number };
type Found = { box: Box; hit: boolean; names: string[] };

const keyCodes: Record<string, string> = {
  Backspace: "\uE003",
  Tab: "\uE004",
  Enter: "\uE007",
  Control: "\uE009",
  Escape: "\uE00C",
  ArrowDown: "\uE015",
};

export type Page = ReturnType<typeof openPage>;

/** The only page of the driver's window. */
export function openPage(driver: Driver, origin: string) {
  const evaluate = <T>(expression: string) => driver.call<T>(`() => (${expression})`);

  async function find(target: Target, toClick = false): Promise<Box & { hit: boolean }> {
    return eventually(async () => {
      const { box, hit, names } = await driver.call<Partial<Found>>(finder, serialized(target), toClick);
      assert.ok(box, `no ${described(target)} among ${names?.join(" | ")}`);
      return { ...box, hit: hit ?? false };
    });
  }

  /** Clicks the middle of the element once it is still and nothing covers it, again if it moved before the click arrived. */
  async function click(target: Target): Promise<void> {
    let before: unknown;
    await eventually(async () => {
      const { hit, ...box } = await find(target, true);
      const isStill = JSON.stringify(before) === JSON.stringify(box);
      before = box;
      assert.ok(isStill && hit, `${described(target)} ${hit ? "moves" : "is covered"}`);
      await clickAt({ x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) });
      const result = await eventually(async () => {
        const result = await driver.call<string | null>(clickResult);
        assert.ok(result, `the click on ${described(target)} did not arrive`);
        return result;
      });
      assert.notEqual(result, "missed", `the click missed ${described(target)}`);
    });
  }

  const clickAt = (at: { x: number; y: number }) =>
    driver.perform([
      mouse(
        { type: "pointerMove", duration: 0, origin: "viewport", ...at },
        { type: "pointerDown", button: 0 },
        { type: "pointerUp", button: 0 },
      ),
    ]);

  /** A key, or keys joined with "+", of which the last is pressed while the others are held. */
  async function press(combination: string): Promise<void> {
    const values = combination.split("+").map(key => keyCodes[key] ?? key);
    const down = values.map(value => ({ type: "keyDown", value }));
    const up = values.toReversed().map(value => ({ type: "keyUp", value }));
    await driver.perform([keyboard(...down, ...up)]);
  }

  async function type(text: string): Promise<void> {
    const strokes = [...text].flatMap(value => [
      { type: "keyDown", value },
      { type: "keyUp", value },
    ]);
    await driver.perform([keyboard(...strokes)]);
  }

  return {
    name: driver.name,
    evaluate,
    click,
    press,
    type,
    resize: async (size: Size) => {
      await driver.resize(size);
      await eventually(async () =>
        assert.deepEqual(await evaluate("({ width: innerWidth, height: innerHeight })"), size),
      );
    },
    goto: (path: string) => driver.goto(origin + path),
    /** Waits for the element and returns its box in the window. */
    waitFor: (target: Target): Promise<Box> => find(target),
    async waitUntilGone(target: Target): Promise<void> {
      await eventually(async () => {
        const { box } = await driver.call<Partial<Found>>(finder, serialized(target), false);
        assert.ok(!box, `${described(target)} is still there`);
      });
    },
    /** Replaces the text of a field. */
    async fill(target: Target, text: string): Promise<void> {
      await click(target);
      await press("Control+a");
      await type(text);
    },
    /** Waits until the expression is true. */
    becomesTrue: (expression: string) =>
      eventually(async () => assert.ok(await evaluate(expression), expression)),
    /** Waits until what the last key caused is painted. */
    afterFrames: () =>
      evaluate("new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))"),
    /** Writes a screenshot if SHOTS names a folder. */
    async shoot(name: string): Promise<void> {
      const folder = process.env["SHOTS"];
      const file = `${folder}/${driver.name.split(" ")[0]!.toLowerCase()}-${name}.png`;
      if (folder) writeFileSync(file, await driver.screenshot());
    },
  };
}

const mouse = (...actions: object[]): InputSource => ({
  type: "pointer",
  id: "mouse",
  parameters: { pointerType: "mouse" },
  actions,
});
const keyboard = (...actions: object[]): InputSource => ({ type: "key", id: "keyboard", actions });

function serialized({ role, name, within }: Target): object {
  return {
    role,
    ...(typeof name === "string" && { name }),
    ...(name instanceof RegExp && { pattern: name.source, flags: name.flags }),
    ...(within && { within: serialized(within) }),
  };
}

function described({ role, name, within }: Target): string {
  return `${role}${name === undefined ? "" : ` “${name}”`}${within ? ` in ${described(within)}` : ""}`;
}
