// Checks the mutants of a range of numbers in this process.
import { check, Finding } from "./check.ts";
import { Mutants, type Path } from "./mutant.ts";

export type Range = { path: Path; seed: number; from: number; to: number };

export type Found = { path: Path; seed: number; number: number; what: string };

export type RangeReport = {
  checked: number;
  bytes: number;
  /** Mutants by the code of their result. */
  codes: Record<string, number>;
  findings: Found[];
  slowest: { number: number; ms: number };
};

/** A request that takes longer is a finding; without a service, CPU time is measured, whatever else the machine does. */
export const answerMsMax = 2_000;
const findingsMax = 20;

/** `onEach`: called before each mutant, with its number. Stops after twenty findings. */
export async function checkRange(
  { path, seed, from, to }: Range,
  onEach: (number: number) => void = () => {},
): Promise<RangeReport> {
  const mutants = new Mutants();
  const report: RangeReport = {
    checked: 0,
    bytes: 0,
    codes: {},
    findings: [],
    slowest: { number: from, ms: 0 },
  };
  for (let number = from; number < to && report.findings.length < findingsMax; number++) {
    onEach(number);
    const found = (what: string) => report.findings.push({ path, seed, number, what });
    const mutant = mutants.make(path, seed, number);
    const started = process.cpuUsage();
    try {
      const code = await check(mutant);
      report.codes[code] = (report.codes[code] ?? 0) + 1;
      let ms = cpuMsSince(started);
      // The first of a kind is compiled, and a busy machine counts what others took: a body is too slow if it is every time.
      for (let again = 0; again < 2 && ms > answerMsMax; again++) {
        const restarted = process.cpuUsage();
        await check(mutant);
        ms = cpuMsSince(restarted);
      }
      if (ms > report.slowest.ms) report.slowest = { number, ms };
      if (ms > answerMsMax) found(`took ${Math.round(ms)} ms`);
    } catch (error) {
      found(
        error instanceof Finding ? error.message : String((error as Error)?.stack ?? error).slice(0, 1_500),
      );
    }
    report.checked++;
    report.bytes += mutant.body.length;
  }
  return report;
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

export function joined(one: RangeReport | undefined, other: RangeReport): RangeReport {
  if (!one) return other;
  const codes = { ...one.codes };
  for (const [code, count] of Object.entries(other.codes)) codes[code] = (codes[code] ?? 0) + count;
  return {
    checked: one.checked + other.checked,
    bytes: one.bytes + other.bytes,
    codes,
    findings: [...one.findings, ...other.findings],
    slowest: one.slowest.ms > other.slowest.ms ? one.slowest : other.slowest,
  };
}
