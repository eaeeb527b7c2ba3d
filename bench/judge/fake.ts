// A fake judge that answers immediately, for measuring everything except the time of the model.
import { startJudgeServer } from "../../test/support/judge-server.ts";

const server = await startJudgeServer();
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
// The server records every request; discard them, so that memory does not grow.
setInterval(() => server.requests.splice(0), 1_000).unref();
process.on("SIGTERM", () => process.exit(0));
