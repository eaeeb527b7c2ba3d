// The service of npm run dev, which starts it again when its sources change.
import { runService } from "../../src/command.ts";
import { logStream, openLog } from "../../src/log.ts";

await runService(
  process.env,
  ({ logLevel, logFormat }) => openLog(logLevel, logStream(logFormat)),
  () => {},
);
