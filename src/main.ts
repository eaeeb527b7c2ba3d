// npm start: the service, until it is told to stop.
import { runService } from "./command.ts";
import { openLog } from "./log.ts";

await runService(process.env, openLog, ({ service: { url }, config: { roles }, log }) =>
  log.info({ url, roles }, `Onlooker is ready at ${url}`),
);
