// npm run fuzz: sends mutants of real requests through the code that receives them, or to a running service.
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Command, InvalidArgumentError, Option } from "commander";
import { check } from "./check.ts";
import { fuzzService, type ServiceTarget } from "./http.ts";
import { Mutants, type Path, paths } from "./mutant.ts";
import { checkInProcesses } from "./processes.ts";
import type { RangeReport } from "./range.ts";

type Options = {
  seed: number;
  count?: number;
  from: number;
  path: Path[];
  processes: number;
  number?: number;
  save?: string;
  http?: true;
  connections: number;
} & ServiceTarget;

const integer = (text: string) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError("Expected a whole number.");
  return value;
};

const program = new Command("npm run fuzz --")
  .description(
    "Makes mutants of recorded requests by a seed, and checks that each is refused as documented, or stored and shown.",
  )
  .option("--seed <number>", "the mutants; the same seed gives the same", integer, Date.now() % 2 ** 31)
  .option("--count <number>", "mutants of each path (default: 1000000, or 20000 with --http)", integer)
  .option("--from <number>", "number of the first mutant", integer, 0)
  .addOption(new Option("--path <paths...>", "what is sent").choices(paths).default([...paths]))
  .option("--processes <number>", "processes that check mutants", integer, availableParallelism())
  .option("--number <number>", "one mutant only, such as to repeat a finding", integer)
  .option("--save <file>", "with --number: writes the body of the mutant to a file")
  .option("--http", "starts the service on a new database and sends the mutants to it")
  .option("--connections <number>", "with --http: concurrent requests", integer, 4)
  .option("--url <url>", "with --http: a running service instead, with the next three options")
  .option("--email <email>", "an account of that service, with a verified email")
  .option("--password <password>", "its password");

const options = program.parse().opts<Options>();
const failed = options.number === undefined ? await fuzz() : await repeat(options.number);
process.exit(failed ? 1 : 0);

async function fuzz(): Promise<boolean> {
  const { seed, from, http, processes } = options;
  const count = options.count ?? (http ? 20_000 : 1_000_000);
  const range = { seed, from, to: from + count };
  print(`seed ${seed}, ${count} mutants of each path${http ? ", over HTTP" : ""}`);
  if (http) {
    const reports = await fuzzService({ ...options, ...range, paths: options.path }, print);
    return reports.map(([path, report]) => printReport(path, report)).includes(true);
  }
  let failed = false;
  for (const path of options.path) {
    const started = performance.now();
    let told = started;
    const report = await checkInProcesses({ ...range, path }, processes, ({ checked, findings }) => {
      if (performance.now() - told < 30_000) return;
      told = performance.now();
      print(`${path}: ${checked} checked, ${findings.length} findings`);
    });
    if (printReport(path, report)) failed = true;
    const seconds = (performance.now() - started) / 1_000;
    print(
      `  ${seconds.toFixed(0)} s, ${(count / seconds).toFixed(0)}/s, peak RSS ${report.rssMb.toFixed(0)} MB`,
    );
  }
  return failed;
}

/** Returns whether there are findings. */
function printReport(path: Path, { checked, bytes, codes, findings, slowest }: RangeReport): boolean {
  const shares = Object.entries(codes).toSorted(([, a], [, b]) => b - a);
  const told = shares.map(([code, count]) => `${code} ${((count / checked) * 100).toFixed(1)} %`).join(", ");
  print(`${path}: ${checked} mutants, ${(bytes / 1e6).toFixed(0)} MB, ${findings.length} findings`);
  print(`  ${told}`);
  print(`  slowest: ${slowest.ms.toFixed(0)} ms, number ${slowest.number}`);
  for (const { seed, number, what } of findings) {
    print(`  FOUND ${what.replaceAll("\n", "\n    ")}`);
    print(
      `    npm run fuzz -- --path ${path} --seed ${seed} --number ${number}${options.http ? " --http" : ""}`,
    );
  }
  return findings.length > 0;
}

/** Checks one mutant of the first path and says what it is. */
async function repeat(number: number): Promise<boolean> {
  const { seed, save, http } = options;
  const mutant = new Mutants().make(options.path[0]!, seed, number);
  const { from, endpoint, mediaType, gzip, body } = mutant;
  print(
    `made from ${from}: ${body.length} bytes of ${mediaType}${gzip ? " in gzip" : ""} for /public/${endpoint}`,
  );
  if (save) writeFileSync(save, body);
  if (http) {
    const range = { seed, from: number, to: number + 1, paths: [mutant.path] };
    const reports = await fuzzService({ ...options, ...range }, print);
    return reports.map(([path, report]) => printReport(path, report)).includes(true);
  }
  const started = performance.now();
  print(`${await check(mutant)} after ${(performance.now() - started).toFixed(0)} ms`);
  return false;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
