// What large bodies of texts that were made to be slow to redact cost a running service, as a ratio to what the same bodies
// cost without rules, and what others notice meanwhile.
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { cpuSeconds, peakMb } from "./processes.ts";
import { makeProject } from "./project.ts";
import { hostile } from "./redaction/hostile.ts";

const bodyBytes = 30_000_000;
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

export type HostileInput = { database: pg.Client; databaseUrl: string };

/** Makes the projects; call it before the service starts. Returns what measures them. */
export async function hostileBodies({ database, databaseUrl }: HostileInput) {
  const sender = await makeProject(databaseUrl, { serviceName: "hostile", tests: 0 });
  const plain = await makeProject(databaseUrl, { serviceName: "plain", tests: 0 });
  const other = await makeProject(databaseUrl, { serviceName: "other", tests: 0 });
  const rules = Array.from({ length: 20 }, (_, at) => ({
    name: `own-${at}`,
    pattern: `[a-z@0-9 ]{8,20}#${at}[A-Z]{2}`,
  }));
  const privacy = { builtIn: ["*"], rules, pseudonyms: [], judgeRules: [], judgeSeesToolResults: true };
  await database.query(
    "update projects set privacy = $2::jsonb, privacy_revision = 1 where id = (select project_id from agents where id = $1)",
    [sender.agentId, JSON.stringify(privacy)],
  );
  await database.query("update agents set privacy_revision = 1 where id = $1", [sender.agentId]);
  return async (url: string, pid: number, print: (line: string) => void): Promise<void> => {
    print(
      "\nBodies of 30 MB without rules, then under all built-in and 20 own rules, beside a client that sends a small trace every 20 ms\n" +
        "text                      status         s  plain s CPU   CPU s     ratio   others' p50 ms   p99 ms   most ms   peak MB",
    );
    const send = async (key: string, platformId: string, text: string) => {
      const body = { platformId, spans: [{ span_id: "1", name: "a", attributes: { text } }] };
      const response = await fetch(`${url}/public/traces`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      await response.arrayBuffer();
      return response.status;
    };
    const beside = async (work: Promise<unknown>) => {
      const times: number[] = [];
      let isDone = false;
      const ended = work.finally(() => {
        isDone = true;
      });
      while (!isDone) {
        const start = performance.now();
        const status = await send(other.apiKey, other.agentId, "Where is my order?");
        if (status >= 300) throw new Error(`A small trace was answered with ${status}.`);
        times.push(performance.now() - start);
        await sleep(20);
      }
      await ended;
      return times.sort((a, b) => a - b);
    };
    const row = (name: string, cells: string[], times: number[]) => {
      const at = (quantile: number) => times[Math.floor((times.length - 1) * quantile)]!.toFixed(1);
      const all = [...cells, at(0.5), at(0.99), at(1), peakMb(pid).toFixed(0)];
      print(`${name.padEnd(22)} ${all.map(cell => cell.padStart(9)).join(" ")}`);
    };
    /** What the body costs the service, less what the small traces beside it cost in that time. */
    const measure = async (project: { apiKey: string; agentId: string }, text: string) => {
      const [start, cpu] = [performance.now(), cpuSeconds(pid)];
      let status = 0;
      let seconds = 0;
      const work = send(project.apiKey, project.agentId, text).then(answer => {
        status = answer;
        seconds = (performance.now() - start) / 1_000;
      });
      const times = await beside(work);
      const spent = cpuSeconds(pid) - cpu - times.length * cpuOfSmall;
      return { status, seconds, cpu: spent, times };
    };
    await beside(sleep(2_000));
    const idle = cpuSeconds(pid);
    const alone = await beside(sleep(3_000));
    const cpuOfSmall = (cpuSeconds(pid) - idle) / alone.length;
    row("none", ["", "3.0", "", "", ""], alone);
    let highest = 0;
    for (const name of texts) {
      const make = hostile[name] ?? ((size: number) => "Your order ships tomorrow. ".repeat(size / 27));
      const text = make(name === "nested JSON in text" ? bodyBytes / 2 : bodyBytes);
      const without = await measure(plain, text);
      const { status, seconds, cpu, times } = await measure(sender, text);
      const ratio = cpu / without.cpu;
      highest = Math.max(highest, ratio);
      const cells = [String(status), ...[seconds, without.cpu, cpu, ratio].map(one => one.toFixed(1))];
      row(name, cells, times);
    }
    print(`highest ratio to the same body without rules: ${highest.toFixed(1)}`);
  };
}
