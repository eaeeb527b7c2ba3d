// What evaluation adds to the calls of a judge that answers at once; with --model, how well a model judges labeled sets.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { openAccount } from "../account.ts";
import type { Figures, Given, Parts } from "../benchmark.ts";
import { median, quantile } from "../figures.ts";
import { openStand } from "../stand.ts";
import { labelFigures, routingFigures, semanticFigures } from "./figures.ts";
import type { Trial } from "./trial.ts";

export async function open(given: Given): Promise<Parts> {
  return given.args.includes("--model") ? [() => ofModel(given.args)] : overhead(given);
}

/** Each trace beside its own bare calls, so that changes in the machine's speed affect both. */
async function overhead(given: Given): Promise<Parts> {
  const { judgingTimes } = await import("./overhead.ts");
  const stand = await openStand(given);
  const fake = stand.startProgram("./judge/fake.ts", []);
  const { url: judgeUrl } = JSON.parse(await fake.nextLine()) as { url: string };
  const { url } = await stand.startService();
  const { agentId } = await (await openAccount(stand.databaseUrl, url)).project({
    serviceName: "bench",
  });
  let first = 0;
  const measure = async () => {
    const traces = Math.round(given.seconds * 50);
    first += traces + 20;
    const times = await judgingTimes(stand.databaseUrl, {
      agentId,
      judgeUrl,
      first,
      traces,
      warmUp: 20,
    });
    const { judged, bare, again, callsPerTrace } = times;
    const figures: Figures = { "calls a trace": callsPerTrace };
    for (const [name, ms] of [
      ["bare calls", bare],
      ["first evaluation", judged],
      ["what it adds", judged.map((one, trace) => one - bare[trace]!)],
      ["second evaluation, from the cache", again],
    ] as const) {
      figures[`${name}: p50 ms`] = median(ms);
      figures[`${name}: p95 ms`] = quantile(ms, 0.95);
    }
    figures["first evaluation to bare calls"] = median(judged.map((ms, trace) => ms / bare[trace]!));
    return figures;
  };
  return [measure];
}

/** With the prompts of this checkout. */
async function ofModel(args: string[]): Promise<Figures> {
  const script = join(import.meta.dirname, "main.ts");
  const ran = await promisify(execFile)(process.execPath, [script, "--json", ...args], {
    maxBuffer: 2 ** 30,
  });
  const { routes, criteria, labels, calls } = JSON.parse(ran.stdout) as Trial;
  const routing = routingFigures(routes);
  const semantic = semanticFigures(criteria);
  const all: Record<string, number | null> = {
    "routing: recall of relevant": routing.recall.share,
    "routing: skip precision": routing.skipPrecision,
    "routing: near misses skipped": routing.yieldNear.share,
    "routing: far pairs skipped": routing.yieldFar.share,
    "routing: skipped by an attack": routing.flips.share,
    "semantic: agreement": semantic.agreement.share,
    "semantic: balanced accuracy": semantic.balancedAccuracy,
    "semantic: cannot tell": semantic.undecided.share,
    "semantic: met by an attack": semantic.flips.share,
    "labels: agreement with people": labelFigures(labels).agreement.share,
    calls: calls.length,
    "input tokens": calls.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    "output tokens": calls.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
    "p50 ms of a call": median(calls.map(({ ms }) => ms)),
  };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, value ?? Number.NaN]));
}
