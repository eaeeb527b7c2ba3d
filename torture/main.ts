// npm run torture: sends traces to a service while it is killed, its database crashes and its connections break, and then
// checks that everything acknowledged is stored, once.
import { availableParallelism } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { clockLibrary, type Fault, faults } from "./nemesis.ts";
import { torture } from "./torture.ts";

const integer = (text: string) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError("Expected a whole number.");
  return value;
};

type Options = { seed: number; seconds: number; nodes: number; clients: number; faults: Fault[] };

const options = new Command("npm run torture --")
  .description(
    "Sends traces while faults happen, and checks that everything acknowledged is stored, once, and evaluated once.",
  )
  .option(
    "--seed <number>",
    "what is sent and what goes wrong, in which order",
    integer,
    Date.now() % 2 ** 31,
  )
  .option("--seconds <number>", "how long faults happen", integer, 120)
  .option("--nodes <number>", "processes of the service", integer, 2)
  .option("--clients <number>", "concurrent clients", integer, 4 * availableParallelism())
  .addOption(new Option("--faults <names...>", "what goes wrong").choices(faults).default([...faults]))
  .parse()
  .opts<Options>();

if (!clockLibrary && options.faults.includes("move-clock")) {
  print("No clock is moved in this run: install libfaketime (Debian: faketime).");
}
print(`seed ${options.seed}, ${options.nodes} nodes, ${options.clients} clients, ${options.seconds} s`);
const { report, ledger, deeds, crashes, seconds } = await torture({
  ...options,
  until: () => delay(options.seconds * 1_000),
  say: print,
});

print(`\n${ledger.acknowledgements} acknowledgements in ${seconds.toFixed(0)} s, ${ledger.races} races`);
const answers = [...ledger.statuses].toSorted(([a], [b]) => a - b);
print(`answers: ${answers.map(([status, count]) => `${status || "none"} ${count}`).join(", ")}`);
for (const [deed, count] of [...deeds].toSorted(([a], [b]) => a.localeCompare(b))) print(`${deed}: ${count}`);
if (crashes > 0) print(`ended by themselves while PostgreSQL was away: ${crashes}`);
print(
  `stored: ${report.traces} traces, ${report.spans} spans; ${report.runs} runs; backlog drained in ${(report.drainedMs / 1_000).toFixed(1)} s`,
);
for (const finding of report.findings.slice(0, 50)) print(`FOUND ${finding}`);
print(`${report.findings.length} findings`);
process.exit(report.findings.length > 0 ? 1 : 0);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
