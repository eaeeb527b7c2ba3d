// npm run demo: starts the service with a demo project, sends about fifty sample traces, and runs the tests of one agent.
import { type Running, runService } from "../src/command.ts";
import type { Config } from "../src/config.ts";
import { logStream, openLog } from "../src/log.ts";
import { printEnding } from "./ending.ts";
import { launchShop } from "./launch.ts";
import { createProject } from "./project.ts";
import { printTable } from "./table.ts";
import { clearProgress, showProgress } from "./terminal.ts";
import { printTotals } from "./totals.ts";
import { awaitVerdicts, sendTraffic } from "./traffic.ts";

const env = {
  SVC_DEBOUNCE_MS: "1500",
  SVC_ALLOW_PRIVATE_TARGETS: "127.0.0.0/8,::1", // where the shop assistant of manual runs listens
  ...process.env,
  SVC_ROLES: "http,worker",
  SVC_SMTP_URL: "", // no email to the demo's made-up address
};

await runService(env, openDemoLog, demonstrate);

/** In JSON format, only warnings are logged next to the table; on a terminal, all lines. */
function openDemoLog({ logLevel, logFormat }: Config) {
  const isQuiet = logFormat === "json" && !process.env["SVC_LOG_LEVEL"];
  return openLog(isQuiet ? "warn" : logLevel, logStream(logFormat, 2));
}

async function demonstrate({ service: { url, databaseUrl }, config, log }: Running): Promise<void> {
  console.log("Creating the demo project and its traces…");
  log.level = "warn"; // hides the useless verification link of the demo account
  const project = await createProject(url, databaseUrl);
  log.level = config.logLevel; // shows the links of later emails
  const launched = await launchShop(url, project);
  const sent = await sendTraffic(url, project);
  const count = sent.reduce((sum, { externalIds }) => sum + externalIds.length, 0);
  console.log(`Sent ${count} traces. Waiting for their verdicts…\n`);
  const timeoutMs = (config.judge ? 120_000 : 20_000) + config.debounceMs;
  const evaluated = await awaitVerdicts(project.client, sent, timeoutMs, ready =>
    showProgress(`Evaluated ${ready} of ${count}`),
  );
  clearProgress();
  printTable(evaluated);
  printTotals(evaluated);
  printEnding({ url: config.port === 0 ? url : config.baseUrl, dataDir: config.dataDir }, project, launched);
}
