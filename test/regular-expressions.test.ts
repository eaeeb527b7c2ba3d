// Every regular expression of the service takes time in proportion to its text, whatever the text is.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { Script } from "node:vm";
import { parseSync, Visitor } from "vite";
import { type Pump, pumpsOf, textOf } from "./support/pumped-texts.ts";

const root = new URL("../src/", import.meta.url).pathname;

/** Each once, by where it is first. */
function expressions(): Map<string, RegExp> {
  const all = new Map<string, RegExp>();
  const seen = new Set<string>();
  for (const file of globSync("**/*.ts", { cwd: root })) {
    const code = readFileSync(root + file, "utf8");
    const add = (start: number, expression: RegExp) => {
      if (seen.has(String(expression))) return;
      seen.add(String(expression));
      all.set(`${file}:${code.slice(0, start).split("\n").length} ${expression}`, expression);
    };
    new Visitor({
      Literal: node => {
        if ("regex" in node) add(node.start, new RegExp(node.regex.pattern, node.regex.flags));
      },
      NewExpression: node => {
        if (node.callee.type !== "Identifier" || node.callee.name !== "RegExp") return;
        const [pattern, flags] = node.arguments.map(argument =>
          argument.type === "Literal" ? argument.value : undefined,
        );
        if (typeof pattern === "string") add(node.start, new RegExp(pattern, String(flags ?? "")));
      },
    }).visit(parseSync(file, code, { lang: "ts" }).program);
  }
  return all;
}

/** In CPU time of this thread, which a busy machine does not stretch. */
function msOf(expression: RegExp, text: string): number {
  const before = process.threadCpuUsage();
  text.replace(expression, "");
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** By how much longer a text of twice the length takes: the median of three. */
function growthOf(expression: RegExp, pump: Pump, length: number): number {
  const [once, twice] = [textOf(pump, length), textOf(pump, 2 * length)];
  const ratios = [1, 2, 3].map(() => msOf(expression, twice) / msOf(expression, once));
  return ratios.sort((a, b) => a - b)[1]!;
}

/** The pump whose text, doubled and doubled again, takes more than three times as long. */
function worstOf(expression: RegExp): Pump | undefined {
  const all = new RegExp(expression, `${expression.flags.replace(/[gy]/g, "")}g`);
  return pumpsOf(expression).find(pump => {
    let length = 4_000;
    if (msOf(all, textOf(pump, length)) < 1) return false;
    while (msOf(all, textOf(pump, length)) < 20) {
      if (length > 100_000) return false;
      length *= 2;
    }
    return growthOf(all, pump, length) > 3 && growthOf(all, pump, 2 * length) > 3;
  });
}

const hangMs = 5_000;

function faultOf(expression: RegExp): string | undefined {
  Object.assign(globalThis, { worst: () => worstOf(expression) });
  try {
    const pump = new Script("worst()").runInThisContext({ timeout: hangMs });
    return pump && `takes four times as long for twice of ${JSON.stringify(pump)}`;
  } catch (error) {
    return String(error);
  }
}

test("no regular expression of the service takes more than three times as long for twice the text", () => {
  const faults = [...expressions()].flatMap(([name, expression]) => {
    const fault = faultOf(expression);
    return fault === undefined ? [] : [`${name} ${fault}`];
  });
  assert.deepEqual(faults, []);
});
