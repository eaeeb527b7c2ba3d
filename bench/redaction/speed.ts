// What redaction costs: prose, recorded exports, and hostile texts beside ordinary ones of their size.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { openRedactor, type RedactionRules, type Redactor } from "../../src/model/redaction.ts";
import type { Batch } from "../../src/model/trace/trace.ts";
import { decodeBody } from "../../src/wire/body.ts";
import { hostile, proseOf } from "./hostile.ts";

const builtIn: RedactionRules = { builtIn: ["*"], rules: [], pseudonyms: [] };
/** Twenty that nearly match in many places. */
const ownRules: RedactionRules = {
  builtIn: ["*"],
  rules: Array.from({ length: 20 }, (_, at) => ({
    name: `own-${at}`,
    pattern: `[a-z@0-9 ]{8,20}#${at}[A-Z]{2}`,
  })),
  pseudonyms: [],
};

export function speeds(): string[] {
  const redactor = openRedactor(builtIn, value => value)!;
  const prose = proseOf(200_000);
  const exports = recordedBatches();
  const exportBytes = exports.reduce((sum, batch) => sum + JSON.stringify(batch).length, 0);
  const perKb = (ms: number, chars: number) => `${((ms * 1_000) / (chars / 1_000)).toFixed(1)} µs/KB`;
  const lines = [
    "",
    `prose, 15 languages: ${perKb(
      msOf(() => redactor.text(prose)),
      prose.length,
    )}`,
    `recorded exports, ${exports.length} batches: ${perKb(
      msOf(() => exports.map(batch => redactor.batch(batch))),
      exportBytes,
    )}`,
    "",
    "Hostile texts of 1 million characters, beside prose of that size under the same rules: ms, ratio",
  ];
  for (const rules of [builtIn, ownRules])
    lines.push(...hostileLines(openRedactor(rules, value => value)!, rules));
  return lines;
}

function hostileLines(redactor: Redactor, rules: RedactionRules): string[] {
  const size = 1_000_000;
  const plain = proseOf(size);
  const base = msOf(() => redactor.text(plain), 3);
  const title = rules.rules.length > 0 ? "built-in and 20 own rules" : "built-in rules";
  return [
    `${title}: prose ${base.toFixed(0)} ms`,
    ...Object.entries(hostile).map(([name, make]) => {
      const text = make(size);
      const ms = msOf(() => redactor.text(text), 3);
      return `  ${name.padEnd(34)} ${ms.toFixed(0).padStart(6)} ${(ms / base).toFixed(2).padStart(6)}`;
    }),
  ];
}

function recordedBatches(): Batch[] {
  const folder = join(import.meta.dirname, "..", "..", "test", "fixtures", "otlp", "recorded");
  return globSync("*.json.gz", { cwd: folder })
    .filter(name => !name.includes(".logs."))
    .flatMap(name => {
      const body = decodeBody(gunzipSync(readFileSync(join(folder, name))), "json", {
        spansMax: 10_000,
        valuesMax: 1_000_000,
      } as never);
      return body.path === "otlp" ? body.groups.map(group => group.batch) : [body.batch];
    });
}

/** CPU time of this process, the least of some runs after a warm-up: others may use the machine, too. */
function msOf(run: () => unknown, times = 7): number {
  let best = Number.POSITIVE_INFINITY;
  for (let at = 0; at <= times; at++) {
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    if (at > 0) best = Math.min(best, (user + system) / 1_000);
  }
  return best;
}
