// npm run bench:judge: measures how well a model judges labeled sets; docs/judge-bench.md explains the figures.
import { globSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pino from "pino";
import { type JudgeConnection, type JudgeProvider, judgeProviders } from "../../src/model/judge/call.ts";
import { priceOf } from "../../src/model/price/price.ts";
import { openJudgeClient } from "../../src/remote/judge/client.ts";
import { type Price, report } from "./report.ts";
import { readSets } from "./sets.ts";
import { tryOut } from "./trial.ts";

const usage = `usage: npm run bench:judge -- --model NAME [options] [FILE ...]

  --provider NAME       ${judgeProviders.join(", ")} (openai_compatible)
  --url URL             of an OpenAI-compatible server; default: the provider's own
  --concurrency N       concurrent calls (4)
  --timeout-ms N        timeout of one call (60000)
  --patience-s N        how long to retry while the judge is busy or unavailable (300)
  --repeats N           how often to ask each question (2)
  --no-attacks          leave out the attacks
  --input-usd N --output-usd N   dollars per million tokens; default: the built-in price
  --json                print the raw answers as one line of JSON instead of the figures

The key is read from SVC_JUDGE_API_KEY. Without files, the sets in bench/judge/sets are used.`;

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n\n${usage}\n`);
  process.exitCode = 2;
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    allowNegative: true,
    options: {
      model: { type: "string" },
      provider: { type: "string", default: "openai_compatible" },
      url: { type: "string" },
      concurrency: { type: "string", default: "4" },
      "timeout-ms": { type: "string", default: "60000" },
      "patience-s": { type: "string", default: "300" },
      repeats: { type: "string", default: "2" },
      attacks: { type: "boolean", default: true },
      "input-usd": { type: "string" },
      "output-usd": { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const connection = connectionOf(values);
  const files = positionals.length > 0 ? positionals : globSync(join(import.meta.dirname, "sets", "*.json"));
  const sets = await readSets(files.toSorted());
  if (!values.attacks) sets.attacks = [];
  const client = openJudgeClient(connection, { mode: null, log: pino({ level: "silent" }) });
  const today = new Date().toISOString().slice(0, 10);
  const price = ownPriceOf(values) ?? priceOf([], connection, today);
  const showProgress = (text: string) => process.stderr.isTTY && process.stderr.write(text);
  const trial = await tryOut(client, sets, {
    repeats: whole("--repeats", values.repeats, 1),
    patienceMs: whole("--patience-s", values["patience-s"], 0) * 1_000,
    onProgress: (done, of) => showProgress(`\r${done} of ${of}${done === of ? "\n" : ""}`),
    onWait: reason => showProgress(`\rWaiting: ${reason}\n`),
  });
  const head = `${connection.provider} ${connection.model}, prompts ${client.promptVersion}, ${today}`;
  if (values.json) print(JSON.stringify({ ...trial, head, calls: trial.calls.map(withoutTexts) }));
  else for (const text of [head, "", ...report(trial, price)]) print(text);
  return trial.calls.some(({ state }) => state === "ok") ? 0 : 1;
}

type Given = { [name: string]: string | boolean | undefined };

function connectionOf(given: Given): JudgeConnection {
  const provider = judgeProviders.find(name => name === given["provider"]);
  if (provider === undefined) throw new Error(`--provider must be one of ${judgeProviders.join(", ")}`);
  if (typeof given["model"] !== "string") throw new Error("--model is missing");
  return {
    provider,
    url: urlFrom(provider, given["url"]),
    model: given["model"],
    apiKey: process.env.SVC_JUDGE_API_KEY?.trim() || null,
    timeoutMs: whole("--timeout-ms", given["timeout-ms"], 100),
    concurrency: whole("--concurrency", given["concurrency"], 1),
    tokensPerMinute: null,
  };
}

function urlFrom(provider: JudgeProvider, url: string | boolean | undefined): string | null {
  if (typeof url === "string") {
    if (URL.canParse(url)) return url;
    throw new Error("Invalid --url");
  }
  if (provider === "openai_compatible") throw new Error("--url is missing");
  return null;
}

function ownPriceOf(given: Given): Price | undefined {
  const [input, output] = [given["input-usd"], given["output-usd"]].map(text =>
    text === undefined ? undefined : Number(text),
  );
  if (input === undefined && output === undefined) return undefined;
  if (!(input !== undefined && output !== undefined && input >= 0 && output >= 0))
    throw new Error("--input-usd and --output-usd must be given together, as numbers");
  return { inputUsd: input, outputUsd: output };
}

function whole(name: string, text: string | boolean | undefined, min: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= min) return number;
  throw new Error(`${name} must be a whole number from ${min}`);
}

function withoutTexts({
  instructions: _,
  material: __,
  ...call
}: Awaited<ReturnType<typeof tryOut>>["calls"][number]) {
  return call;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
