// What redaction costs: prose, recorded exports, and texts that were made to be slow.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { prepareBody } from "../../src/ingest/prepare.ts";
import { openRedactor, type RedactionRules } from "../../src/model/redaction.ts";
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
  return [
    "",
    `prose, 15 languages: ${perKb(
      msOf(() => redactor.text(prose)),
      prose.length,
    )}`,
    `recorded exports, ${exports.length} batches: ${perKb(
      msOf(() => exports.map(batch => redactor.batch(batch))),
      exportBytes,
    )}`,
  ];
}

export function* hostileSpeeds(): Generator<string> {
  yield* [
    "",
    "Texts of a million characters that were made to be slow: CPU ms of redacting, its ratio to prose under the same rules,",
    "and the ratio of preparing a body of it with the rules and without any",
  ];
  yield* hostileLines("built-in rules", builtIn);
  yield* hostileLines("built-in and 20 own rules", ownRules);
}

function* hostileLines(title: string, rules: RedactionRules): Generator<string> {
  const redactor = openRedactor(rules, value => value)!;
  const storing = { projectId: title, revision: 1, rules, pseudonymKey: "key" };
  const preparing = (text: string) => {
    const body = { spans: [{ span_id: "1", name: "a", attributes: { text } }] };
    const bytes = Buffer.from(JSON.stringify(body));
    const plain = msOf(() => prepareBody(bytes, "json", limits), 3);
    return msOf(() => prepareBody(bytes, "json", limits, { agents: [], only: null, storing }), 3) / plain;
  };
  yield `\n${title}`;
  let base = 0;
  for (const [name, make] of Object.entries({ prose: proseOf, ...hostile })) {
    const text = make(1_000_000);
    // Prose is the measure, so its functions must be as warm as those of the texts after it.
    const ms = msOf(() => redactor.text(text), base === 0 ? 20 : 5);
    base ||= ms;
    const figures = [ms.toFixed(0), (ms / base).toFixed(2), preparing(text).toFixed(2)];
    yield `  ${name.padEnd(28)} ${figures.map(figure => figure.padStart(8)).join(" ")}`;
  }
}

const limits = { spansMax: 10_000, valuesMax: 1_000_000, elementsMax: 10_000_000 } as never;

function recordedBatches(): Batch[] {
  const folder = join(import.meta.dirname, "..", "..", "test", "fixtures", "otlp", "recorded");
  return globSync("*.json.gz", { cwd: folder })
    .filter(name => !name.includes(".logs."))
    .flatMap(name => {
      const body = decodeBody(gunzipSync(readFileSync(join(folder, name))), "json", limits);
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
