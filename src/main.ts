// npm start: the service, until it is told to stop.
import { ConfigError, readConfig } from "./config.ts";
import { openLog } from "./http/log.ts";
import { startService } from "./service.ts";
import { EmbeddedError } from "./store/embedded-error.ts";
import { UnfitDatabaseError } from "./store/migrate.ts";

// What the start has to say to a person is one line; anything else is a fault and keeps its stack.
try {
  const config = readConfig(process.env);
  const log = openLog(config.logLevel);
  const stopEarly = stopSignal();
  const service = await startService(config, log);
  log.info({ url: service.url, roles: config.roles }, `Onlooker is ready at ${service.url}`);
  const signal = await stopEarly;
  log.info({ signal }, "stopping");
  await service.stop();
  log.info("stopped");
  process.exit(0);
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
function stopSignal(): Promise<string> {
  return new Promise(resolve => {
    let asked = false;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        if (asked) process.exit(1);
        asked = true;
        resolve(signal);
      });
    }
  });
}

function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof EmbeddedError || error instanceof UnfitDatabaseError) {
    return `Onlooker cannot start: ${error.message}`;
  }
  const { code, port } = error as { code?: string; port?: number };
  if (code === "EADDRINUSE") {
    return `Onlooker cannot start: port ${port} is taken. Stop what uses it, or set PORT to another one.`;
  }
  if (code === "EACCES" && port !== undefined) {
    return `Onlooker cannot start: this user may not listen on port ${port}. Set PORT to one above 1023.`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
