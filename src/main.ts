// npm start: runs the service until a signal, and says on a terminal where it is, where its data is and how to stop it.
import { type Running, runService } from "./command.ts";
import type { Config } from "./config.ts";
import { logStream, openLog } from "./log.ts";
import type { Service } from "./service.ts";
import { readDatabaseUrl } from "./store/connection/database-url.ts";

await runService(process.env, ({ logLevel, logFormat }) => openLog(logLevel, logStream(logFormat)), announce);

function announce({ service, config, log }: Running): void {
  const { url, httpProcesses } = service;
  if (config.logFormat === "text") console.log(summary(config, service));
  else log.info({ url, roles: config.roles, httpProcesses }, `Onlooker is ready at ${url}`);
}

function summary(config: Config, { url }: Service): string {
  const { roles, databaseUrl, dataDir } = config;
  const ready = roles.includes("http")
    ? `Onlooker is ready at ${dashboard(config, url)}`
    : `The worker is ready; ${url}/healthz says how it is`;
  const database = databaseUrl ? `the database at ${readDatabaseUrl(databaseUrl)!.hosts} and in ` : "";
  return `\n${ready}\nIts data is in ${database}${dataDir}\nPress Ctrl-C to stop it\n`;
}

/** Where people open it, and where it listens if that is elsewhere, as behind a proxy. */
function dashboard({ port, baseUrl }: Config, url: string): string {
  if (port === 0) return url;
  return new URL(baseUrl).port === new URL(url).port ? baseUrl : `${baseUrl} (it listens at ${url})`;
}
