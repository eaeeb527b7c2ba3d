// npm run dev: the service and the dashboard with hot reload, filled by the demo, in one process to stop.
//
// The dashboard is at http://localhost:4000, or PORT: Vite serves its page and its sources, and passes requests for the service on
// to the next port. The data stays in data/dev, or where SVC_DATA_DIR or DATABASE_URL says.

import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import react from "@vitejs/plugin-react";
import { createServer as createDashboard } from "vite";
import { connectShop, launchShop } from "../demo/launch.ts";
import { createProject, type DemoProject } from "../demo/project.ts";
import { sendTraffic } from "../demo/traffic.ts";
import { readConfig } from "../src/config.ts";
import { openEmbedded } from "../src/embedded/database.ts";
import { defaultDataDir } from "../src/embedded/default-folder.ts";
import { openLog } from "../src/log.ts";
import { RestartingService } from "./dev/restarting.ts";

const root = join(import.meta.dirname, "..");
const since = performance.now();
// For good: npm passes on the Ctrl-C that the terminal has sent here already.
const stopped = new Promise(resolve => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, resolve);
});

const env = {
  SVC_DATA_DIR: defaultDataDir(join(root, "data", "dev")),
  SVC_DEBOUNCE_MS: "1500",
  SVC_ALLOW_PRIVATE_TARGETS: "127.0.0.0/8,::1", // where the demo's agent listens
  SVC_HTTP_PROCESSES: "1",
  ...process.env,
};
const config = readConfig(env);
const url = `http://localhost:${config.port}`;

const embedded = config.databaseUrl
  ? undefined
  : await openEmbedded({ dataDir: config.dataDir, log: openLog("warn") });
const databaseUrl = config.databaseUrl ?? embedded!.url;
const servicePort = config.port + 1;
const serviceUrl = `http://127.0.0.1:${servicePort}`;
const service = new RestartingService({
  ...env,
  DATABASE_URL: databaseUrl,
  SVC_HOST: "127.0.0.1",
  PORT: String(servicePort),
  SVC_BASE_URL: url,
  // A restart takes 1.4 s of CPU time instead of 2.
  NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "compiled"),
});
const closing: (() => Promise<unknown>)[] = [() => service.stop()];
try {
  closing.push(await serveDashboard());
  await Promise.race([stopped, fill().then(() => stopped)]);
} finally {
  await Promise.all(closing.map(close => close()));
  await embedded?.stop();
}
process.exit();

/** Requests to the service wait while it restarts. Returns how to close it. */
async function serveDashboard(): Promise<() => Promise<unknown>> {
  const isForService = /^\/(?:api|public|v1|healthz|readyz|metrics)(?:[/?]|$)/;
  const server = createServer();
  const vite = await createDashboard({
    configFile: join(root, "web", "vite.config.ts"),
    configLoader: "native",
    logLevel: "warn",
    plugins: [react()],
    server: {
      // Vite's own server would end the process at SIGTERM, and with it PostgreSQL.
      middlewareMode: true,
      hmr: { server },
      proxy: { [isForService.source]: serviceUrl },
      fs: { allow: ["web", "src", "node_modules"].map(name => join(root, name)) },
    },
  });
  const sources = join(root, "src");
  vite.watcher.add(sources).on("all", (_event, path) => {
    if (path.startsWith(sources)) service.restart();
  });
  server.on("request", (request, response) => {
    const ready = isForService.test(request.url ?? "") ? service.ready : Promise.resolve();
    void ready.then(() => vite.middlewares(request, response));
  });
  server.listen(config.port, config.host);
  await once(server, "listening");
  return async () => {
    server.close();
    server.closeAllConnections();
    await vite.close();
  };
}

/** Creates the demo's project, and traces and runs if it is new. Tries again if the service does not answer, as during a restart. */
async function fill(): Promise<void> {
  await service.ready;
  try {
    const project = await createProject(serviceUrl, databaseUrl);
    announce(project);
    if (!project.isNew) await connectShop(serviceUrl, project);
    else await Promise.all([launchShop(serviceUrl, project), sendTraffic(serviceUrl, project)]);
  } catch (error) {
    // What fetch throws.
    if (!(error instanceof TypeError)) throw error;
    await delay(500);
    await fill();
  }
}

function announce({ email, password }: DemoProject): void {
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  console.log(`
Onlooker is ready after ${seconds} s, and follows changes of web and src
  Dashboard  ${url}
  Sign in    ${email}, password ${password}
  Data       ${config.databaseUrl ? "in the database of DATABASE_URL" : config.dataDir}
  Stop       Ctrl-C
`);
}
