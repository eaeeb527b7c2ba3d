// npm start: runs the service until a signal, and prints its URL, data folder and judge.
import { styleText } from "node:util";
import { type Running, runService } from "./command.ts";
import type { Config } from "./config.ts";
import { logStream, openLog } from "./log.ts";
import type { Service } from "./service.ts";
import { readDatabaseUrl } from "./store/database-url.ts";

await runService(process.env, ({ logLevel, logFormat }) => openLog(logLevel, logStream(logFormat)), announce);

function announce({ service, config, log }: Running): void {
  const { url, httpProcesses } = service;
  if (config.logFormat === "text") console.log(summary(config, service));
  else log.info({ url, roles: config.roles, httpProcesses }, `Onlooker is ready at ${url}`);
}

function summary(config: Config, { url, httpProcesses }: Service): string {
  const rows = config.roles.includes("http")
    ? dashboardRows(config, url)
    : [["Worker", `health at ${url}/healthz`]];
  rows.push(
    ...(config.databaseUrl ? [["Database", readDatabaseUrl(config.databaseUrl)!.hosts]] : []),
    ["Data", config.dataDir],
    ...(httpProcesses > 1 ? [["Processes", `${httpProcesses} serve HTTP`]] : []),
    ["Judge", config.judge?.model ?? "none; connect one in Project settings, Judge"],
    ["Stop", "Ctrl-C"],
  );
  const lines = rows.map(([label, value]) => `  ${label!.padEnd(11)}${value}`);
  return `\n${styleText("bold", "Onlooker is ready")}\n${lines.join("\n")}\n`;
}

function dashboardRows({ port, baseUrl, smtpUrl, dataDir }: Config, url: string): string[][] {
  const dashboard = port === 0 ? url : baseUrl;
  return [
    ["Dashboard", dashboard],
    ...(new URL(dashboard).port === new URL(url).port ? [] : [["Listening", url]]),
    ...(smtpUrl
      ? []
      : [["Email", `no mail server: links are printed here, emails are in ${dataDir}/outbox`]]),
  ];
}
