// What evaluation adds to the calls of a judge: each trace beside its own baseline of bare calls.
import { median, print, row } from "./figures.ts";
import { judgedChecks, judgedTests, judgingTimes } from "./judge-overhead.ts";
import { makeProject } from "./project.ts";
import type { Stand } from "./stand.ts";

/** Measures each trace next to its own baseline, so that changes in the machine's speed affect both. */
export async function judging(stand: Stand): Promise<void> {
  const judge = stand.startProgram("./judge.ts", []);
  const { url: judgeUrl } = JSON.parse(await judge.nextLine()) as { url: string };
  const { agentId } = await makeProject(stand.databaseUrl, { serviceName: "bench", tests: 0 });
  const input = { agentId, judgeUrl, traces: 200, warmUp: 20 };
  const { judged, bare, again, callsPerTrace } = await judgingTimes(stand.databaseUrl, input);
  const overheads = judged.map((ms, trace) => ms - bare[trace]!);
  const p95 = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)]!;
  const times = (name: string, ms: number[]) => print(row([name, median(ms).toFixed(1), p95(ms).toFixed(1)]));
  print(
    `Judging: ${judgedTests} scenarios and ${judgedChecks} checks a trace, ${callsPerTrace} calls, one trace at a time`,
  );
  print(row(["", "p50 ms", "p95 ms"]));
  times("baseline: bare calls", bare);
  times("first evaluation", judged);
  times("overhead", overheads);
  times("second evaluation", again);
  const ratios = judged.map((ms, trace) => ms / bare[trace]!);
  print(`ratio to the baseline, median: ${median(ratios).toFixed(2)}`);
  await judge.stop();
}
