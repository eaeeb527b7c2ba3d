// The built-in rules: recall and precision on labeled texts, and what prose and recorded exports take; with `hostile`, texts
// that were made to be slow. With --verbose, each mistake is printed.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { prepareBody } from "../../src/ingest/prepare.ts";
import type { RedactionRules } from "../../src/model/redaction.ts";
import type { Batch } from "../../src/model/trace/trace.ts";
import { openRedactor } from "../../src/redaction.ts";
import { decodeBody } from "../../src/wire/body.ts";
import type { Figures, Given, Parts } from "../benchmark.ts";
import { hostile, nearlyOwnRules, proseOf } from "./hostile.ts";
import { labeledTexts, ratesOf, scoresOf } from "./score.ts";

const builtIn: RedactionRules = { builtIn: ["*"], rules: [], pseudonyms: [] };

export async function open({ args, isCompared }: Given): Promise<Parts> {
  if (args.includes("hostile")) return hostileParts(isCompared ? 250_000 : 1_000_000);
  return [async () => rates(args.includes("--verbose")), async () => speeds()];
}

function rates(isVerbose: boolean): Figures {
  const { byRule, mistakes } = scoresOf(labeledTexts());
  const figures: Figures = {};
  for (const [rule, score] of byRule) {
    const { recall, precision } = ratesOf(score);
    figures[`${rule}: recall %`] = recall * 100;
    figures[`${rule}: precision %`] = precision * 100;
    figures[`${rule}: in clear`] = score.inClear;
  }
  if (isVerbose)
    for (const { kind, rule, value, text } of mistakes)
      console.log(`  ${kind} [${rule}] ${value}: ${JSON.stringify(text)}`);
  return figures;
}

function speeds(): Figures {
  const redactor = openRedactor(builtIn, value => value)!;
  const prose = proseOf(200_000);
  const exports = recordedBatches();
  const exportBytes = exports.reduce((sum, batch) => sum + JSON.stringify(batch).length, 0);
  const ofProse = msOf(() => redactor.text(prose));
  const ofExports = msOf(() => exports.map(batch => redactor.batch(batch)));
  return {
    "prose in 15 languages: µs a KB": (ofProse * 1e6) / prose.length,
    "recorded exports: µs a KB": (ofExports * 1e6) / exportBytes,
  };
}

/** CPU of redacting, its ratio to prose under the same rules, and that of preparing a body of it to the same without rules. */
function hostileParts(size: number): Parts {
  const all = Object.entries({ "built-in": builtIn, "and 20 own": { ...builtIn, rules: nearlyOwnRules } });
  return all.flatMap(([title, rules]) => {
    const redactor = openRedactor(rules, value => value)!;
    const storing = { projectId: title, revision: 1, rules, pseudonymKey: "key" };
    // The measure, so its functions must be as warm as those of the texts after it.
    const prose = proseOf(size);
    const base = once(() => msOf(() => redactor.text(prose), 20));
    return Object.entries(hostile).map(([name, make]) => async () => {
      const text = make(size);
      const bytes = Buffer.from(
        JSON.stringify({ spans: [{ span_id: "1", name: "a", attributes: { text } }] }),
      );
      const ms = msOf(() => redactor.text(text), 5);
      const plain = msOf(() => prepareBody(bytes, "json", limits), 3);
      const preparing = msOf(
        () => prepareBody(bytes, "json", limits, { agents: [], only: null, storing }),
        3,
      );
      return {
        [`${title}, ${name}: CPU ms a million characters`]: (ms * 1e6) / size,
        [`${title}, ${name}: CPU to prose`]: ms / base(),
        [`${title}, ${name}: preparing to no rules`]: preparing / plain,
      };
    });
  });
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
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
