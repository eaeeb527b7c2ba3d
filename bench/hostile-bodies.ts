// What large bodies of texts that were made to be slow to redact cost a running service, as a ratio to what the same bodies
// cost without rules, and what others notice meanwhile.
import { setTimeout as sleep } from "node:timers/promises";
import { type BenchProject, openAccount, privacyOf, sendTrace } from "./account.ts";
import type { Given, Parts } from "./benchmark.ts";
import { quantile } from "./figures.ts";
import { cpuSeconds, peakMb } from "./processes.ts";
import { hostile, nearlyOwnRules } from "./redaction/hostile.ts";
import { openStand } from "./stand.ts";

const texts = [
  "prose",
  "@ only",
  "a run of digits",
  "pairs of digits",
  "user:pass@",
  "nested JSON in text",
  "nearly own rules",
  "phone numbers",
  "token=1a",
];

/** A client sends a small trace every 20 ms beside each body. */
export async function open(given: Given): Promise<Parts> {
  const bodyBytes = given.isCompared ? 10_000_000 : 30_000_000;
  const stand = await openStand(given);
  const { service, url } = await stand.startService();
  const account = await openAccount(stand.databaseUrl, url);
  const [sender, plain, other] = [
    await account.project({ serviceName: "hostile" }),
    await account.project({ serviceName: "plain" }),
    await account.project({ serviceName: "other" }),
  ];
  await account.send("PUT", `/api/projects/${sender.projectId}/privacy`, privacyOf(["*"], nearlyOwnRules));

  const send = ({ apiKey, agentId }: BenchProject, text: string) =>
    sendTrace(url, apiKey, {
      platformId: agentId,
      spans: [{ span_id: "1", name: "a", attributes: { text } }],
    });
  /** The times of small traces while something lasts. */
  const beside = async (work: Promise<unknown>) => {
    const times: number[] = [];
    let isDone = false;
    const ended = work.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      const begun = performance.now();
      await send(other, "Where is my order?");
      times.push(performance.now() - begun);
      await sleep(20);
    }
    await ended;
    return times;
  };
  /** What a body costs the service, less what the small traces beside it cost in that time. */
  const measure = async (project: BenchProject, text: string, cpuOfSmall: number) => {
    const [begun, cpu] = [performance.now(), cpuSeconds(service.pid)];
    let seconds = 0;
    const work = send(project, text).then(() => {
      seconds = (performance.now() - begun) / 1_000;
    });
    const times = await beside(work);
    return { seconds, cpu: cpuSeconds(service.pid) - cpu - times.length * cpuOfSmall, times };
  };
  await beside(sleep(2_000));
  const idle = cpuSeconds(service.pid);
  const alone = await beside(sleep(3_000));
  const cpuOfSmall = (cpuSeconds(service.pid) - idle) / alone.length;
  const bodies = texts.map(name => async () => {
    const make = hostile[name] ?? ((size: number) => "Your order ships tomorrow. ".repeat(size / 27));
    const text = make(name === "nested JSON in text" ? bodyBytes / 2 : bodyBytes);
    const without = await measure(plain, text, cpuOfSmall);
    const { seconds, cpu, times } = await measure(sender, text, cpuOfSmall);
    return {
      [`${name}: s`]: seconds,
      [`${name}: CPU s`]: cpu,
      [`${name}: CPU to no rules`]: cpu / without.cpu,
      [`${name}: others' p50 ms`]: quantile(times, 0.5),
      [`${name}: others' slowest ms`]: Math.max(...times),
    };
  });
  const last = async () => ({
    "no body: others' slowest ms": Math.max(...alone),
    "peak MB of the service": peakMb(service.pid),
  });
  return [...bodies, last];
}
