// npm run bench: runs benchmarks and prints the medians of their figures; with --against, in turns with another commit, and
// their ratios to it.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { benchmarks, type Figures } from "./benchmark.ts";
import { checkOut, root } from "./checkout.ts";
import { median } from "./figures.ts";
import type { Answer } from "./side.ts";

const usage = `usage: npm run bench -- [NAME] [--against COMMIT] [what NAME takes]

Without a name: ingestion and evaluation.

${Object.entries(benchmarks)
  .map(([name, { about }]) => `  ${name.padEnd(12)} ${about}`)
  .join("\n")}

  --against COMMIT   take turns with that commit, and print each figure's ratio to it
  BENCH_ROUNDS=N     how many turns count
  BENCH_SECONDS=N    how long a load lasts, about
  BENCH_TRACES=N     how many traces lists and pages are measured among
  BENCH_DIR=PATH     where databases and checkouts are made (/var/tmp)
`;

type Side = { name: string; parts: number; measure(part: number): Promise<Figures>; close(): Promise<void> };

const closing: (() => unknown)[] = [];
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, async () => {
    await closeAll();
    process.exit(1);
  });

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  await closeAll();
}

async function main(args: string[]): Promise<number> {
  const commit = taken(args, "--against");
  const name = args[0]?.startsWith("--") ? undefined : args.shift();
  if (
    commit === "" ||
    (name !== undefined && !Object.hasOwn(benchmarks, name)) ||
    (!name && args.length > 0)
  ) {
    const isAsked = args.includes("--help");
    process[isAsked ? "stdout" : "stderr"].write(usage);
    return isAsked ? 0 : 2;
  }
  const roots = [{ root, name: "now" }];
  if (commit !== undefined) {
    const checkout = checkOut(commit);
    closing.push(checkout.remove);
    roots.unshift(checkout);
  }
  for (const one of name ? [name] : ["ingestion", "evaluation"]) await measure(one, roots, args);
  return 0;
}

/** The argument after an option, both of which it takes away; empty: it is missing. */
function taken(args: string[], option: string): string | undefined {
  const at = args.indexOf(option);
  return at === -1 ? undefined : (args.splice(at, 2)[1] ?? "");
}

async function measure(name: string, roots: { root: string; name: string }[], args: string[]): Promise<void> {
  const { about, rounds: usual, isWarmedUp } = benchmarks[name]!;
  const rounds = Number(process.env["BENCH_ROUNDS"] ?? usual);
  print(`\n${name}: ${about}`);
  const sides: Side[] = [];
  for (const of of roots) sides.push(await openSide(name, of, { args, isCompared: roots.length > 1 }));
  const found = sides.map((): Figures[] => []);
  // Who comes first alternates.
  for (let round = isWarmedUp ? -1 : 0; round < rounds; round++) {
    const order = round % 2 === 0 ? [...sides.keys()] : [...sides.keys()].toReversed();
    const taken = sides.map((): Figures => ({}));
    for (let part = 0; part < sides[0]!.parts; part++) {
      for (const at of order) Object.assign(taken[at]!, await sides[at]!.measure(part));
    }
    if (round >= 0) for (const [at, figures] of taken.entries()) found[at]!.push(figures);
    if (process.stderr.isTTY)
      process.stderr.write(round < 0 ? "  warmed up\n" : `  round ${round + 1} of ${rounds}\n`);
  }
  for (const side of sides) await side.close();
  printTable(
    sides.map(side => side.name),
    found,
  );
}

async function openSide(
  name: string,
  of: { root: string; name: string },
  given: { args: string[]; isCompared: boolean },
): Promise<Side> {
  const child = fork(join(of.root, "bench/side.ts"), [JSON.stringify({ name, ...given })], { cwd: of.root });
  const ask = async (message: string | number) => {
    child.send(message);
    const answer = await answerOf(child);
    if (answer.error !== undefined)
      throw new Error(`${of.name} cannot take part in ${name}: ${answer.error}`);
    return answer;
  };
  const close = async () => {
    if (child.exitCode !== null || !child.connected) return;
    const ended = once(child, "exit");
    child.disconnect();
    await ended;
  };
  closing.push(close);
  const { parts = 0 } = await ask("open");
  return { name: of.name, parts, measure: async part => (await ask(part)).figures!, close };
}

function answerOf(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`A side ended with ${code}.`));
    child.once("exit", onExit);
    child.once("message", answer => {
      child.off("exit", onExit);
      resolve(answer as Answer);
    });
  });
}

async function closeAll(): Promise<void> {
  for (const work of closing.splice(0).toReversed()) await work();
}

/** Alone: the median of each figure with the least and the most; with two sides: both medians, and that of the rounds' ratios. */
function printTable(names: string[], found: Figures[][]): void {
  const [before, now] = found as [Figures[], Figures[] | undefined];
  const all = [...new Set(found.flat().flatMap(figures => Object.keys(figures)))];
  const width = Math.max(...all.map(name => name.length), 24);
  const line = (name: string, cells: string[]) =>
    print(name.padEnd(width) + cells.map(cell => cell.padStart(12)).join(""));
  line("", now ? [...names, "ratio"] : ["median", "least", "most"]);
  for (const name of all) {
    const [first, second] = [before, now ?? []].map(turns =>
      turns.map(figures => figures[name] ?? Number.NaN),
    );
    if (now) {
      const ratios = second!.map((value, round) => value / first![round]!);
      line(name, [...[first!, second!].map(values => number(median(values))), number(median(ratios), 2)]);
    } else
      line(
        name,
        [median(first!), Math.min(...first!), Math.max(...first!)].map(value => number(value)),
      );
  }
}

/** To three digits, or to so many after the point. */
function number(value: number, decimals = Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0): string {
  return Number.isFinite(value) ? value.toFixed(decimals) : "-";
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
