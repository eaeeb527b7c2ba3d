// npm run demo: the service, with a demo project whose agents have just had some forty conversations, and one is tested.
import { type Running, runService } from "../src/command.ts";
import { openLog } from "../src/log.ts";
import { printEnding } from "./ending.ts";
import { launchShop } from "./launch.ts";
import { makeProject } from "./project.ts";
import { printTable } from "./table.ts";
import { printTotals } from "./totals.ts";
import { awaitVerdicts, sendTraffic } from "./traffic.ts";

const env = {
  SVC_DEBOUNCE_MS: "1500",
  SVC_LOG_LEVEL: "warn",
  SVC_ALLOW_PRIVATE_TARGETS: "127.0.0.0/8,::1", // where the shop assistant of manual runs listens
  ...process.env,
  SVC_ROLES: "http,worker",
  SVC_SMTP_URL: "", // no mail to the demo's made-up address
};

await runService(env, level => openLog(level, process.stderr), demonstrate);

async function demonstrate({ service: { url, databaseUrl }, config }: Running): Promise<void> {
  console.log(`Onlooker is running at ${url}. Making the demo project and its conversations…`);
  const project = await makeProject(url, databaseUrl);
  const launched = await launchShop(url, project);
  const sent = await sendTraffic(url, project);
  const count = sent.reduce((sum, { externalIds }) => sum + externalIds.length, 0);
  console.log(`Sent ${count} traces. Waiting for their verdicts…\n`);
  const patienceMs = (config.judge ? 120_000 : 20_000) + config.debounceMs;
  const judged = await awaitVerdicts(project.client, sent, patienceMs);
  printTable(judged);
  printTotals(judged);
  printEnding(config.port === 0 ? url : config.baseUrl, project, launched);
}
