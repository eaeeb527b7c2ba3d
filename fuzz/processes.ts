// Checks a range of mutants in several processes, and finds the mutants that crash or hang one.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { joined, type Range, type RangeReport } from "./range.ts";

export type ProcessesReport = RangeReport & { rssMb: number };

/** A mutant is given up after this time, long enough for a machine that is busy with other things. */
const hangMs = 120_000;
const sliceOf = 20_000;

export async function checkInProcesses(
  range: Range,
  processes: number,
  onSlice: (report: ProcessesReport) => void = () => {},
): Promise<ProcessesReport> {
  const folder = mkdtempSync(join(tmpdir(), "onlooker-fuzz-"));
  let report: ProcessesReport | undefined;
  let next = range.from;
  const work = async (name: string) => {
    while (next < range.to) {
      const slice = { ...range, from: next, to: Math.min(next + sliceOf, range.to) };
      next = slice.to;
      const found = await checkSlice(slice, join(folder, name));
      report = { ...joined(report, found), rssMb: Math.max(report?.rssMb ?? 0, found.rssMb) };
      onSlice(report);
    }
  };
  try {
    await Promise.all(Array.from({ length: processes }, (_, at) => work(`progress-${at}`)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return report!;
}

/** Continues after a mutant that ended the process. */
async function checkSlice(slice: Range, progressFile: string): Promise<ProcessesReport> {
  let report: ProcessesReport | undefined;
  for (let from = slice.from; from < slice.to; ) {
    rmSync(progressFile, { force: true });
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, "worker.ts"), JSON.stringify({ ...slice, from, progressFile })],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    const [output, errors, ended] = await Promise.all([
      text(child.stdout!),
      text(child.stderr!),
      endOf(child, progressFile),
    ]);
    const last = output.trim().split("\n").at(-1) ?? "";
    if (ended === "code 0") {
      const done = JSON.parse(last) as ProcessesReport;
      return { ...joined(report, done), rssMb: Math.max(report?.rssMb ?? 0, done.rssMb) };
    }
    const number = numberIn(progressFile) ?? from;
    const { path, seed } = slice;
    const what = `the process ended (${ended}): ${errors.slice(0, 1_000)}`;
    const found = { path, seed, number, what };
    const slowest = { number, ms: 0 };
    const checked = number - from + 1;
    const lost: RangeReport = { checked, bytes: 0, codes: {}, findings: [found], slowest };
    report = { ...joined(report, lost), rssMb: report?.rssMb ?? 0 };
    from = number + 1;
  }
  return report!;
}

/** How the process ended. Kills it once its number has not changed for too long. */
async function endOf(child: ChildProcess, progressFile: string): Promise<string> {
  let [known, since] = [numberIn(progressFile), performance.now()];
  let hung = false;
  const timer = setInterval(() => {
    const now = numberIn(progressFile);
    // Loading the code may take long, too.
    if (now !== known || now === undefined) [known, since] = [now, performance.now()];
    if (performance.now() - since < hangMs) return;
    hung = true;
    child.kill("SIGKILL");
  }, 1_000);
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  clearInterval(timer);
  if (hung) return `no result after ${hangMs / 1_000} s`;
  return signal ?? `code ${code}`;
}

function numberIn(file: string): number | undefined {
  try {
    return readFileSync(file).readDoubleLE();
  } catch {
    return undefined;
  }
}
