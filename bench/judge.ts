// A judge that answers at once, with what any other would have to be answered in time.
import { startJudgeServer } from "../test/support/judge-server.ts";

const server = await startJudgeServer();
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
// Nothing here looks at what came before.
setInterval(() => server.requests.splice(0), 1_000).unref();
process.on("SIGTERM", () => process.exit(0));
