// The inside of the thread that works for the editor of test cases, with a judge, a sandbox and connections of its own.
import { parentPort, workerData } from "node:worker_threads";
import { type Editor, openEditor } from "./editor.ts";
import type { EditorData, EditorReply, EditorRequest } from "./editor-host.ts";
import { openLog } from "./http/log.ts";
import { Refusal } from "./model/refusal.ts";
import { openJudge } from "./remote/judge.ts";
import { Sandbox } from "./remote/sandbox.ts";
import { asUnavailable, openDatabase } from "./store/db.ts";

const { config, databaseUrl } = workerData as EditorData;
const port = parentPort!;
const tell = (reply: EditorReply) => port.postMessage(reply);

const db = openDatabase(databaseUrl, 2);
const sandbox = new Sandbox();
// A share beside what the evaluation threads may ask: those who wait for a dry-run are few.
const judgeConfig = config.judge && { ...config.judge, concurrency: Math.min(4, config.judge.concurrency) };
const judge = openJudge(judgeConfig ?? null, openLog(config.logLevel), {
  onCall: call => tell({ type: "judge", call }),
});
const editor = openEditor({ db, judge, sandbox });
const underWay = new Map<number, AbortController>();

port.on("message", (request: EditorRequest) => {
  if (request.type === "ask") void answer(request);
  else if (request.type === "withdraw") underWay.get(request.id)?.abort();
  else void stop();
});

async function answer({ id, name, ask }: Extract<EditorRequest, { type: "ask" }>): Promise<void> {
  const withdrawal = new AbortController();
  underWay.set(id, withdrawal);
  try {
    const put = editor[name] as (ask: unknown, signal: AbortSignal) => ReturnType<Editor[typeof name]>;
    tell({ type: "answer", id, answer: await put(ask, withdrawal.signal) });
  } catch (error) {
    tell(asReply(id, asUnavailable(error)));
  }
  underWay.delete(id);
}

function asReply(id: number, error: unknown): EditorReply {
  if (error instanceof Refusal) {
    const { code, message, hint, issues } = error;
    const detail = { message, ...(hint && { hint }), ...(issues && { issues }) };
    return { type: "refused", id, code, detail };
  }
  return {
    type: "failed",
    id,
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}

async function stop(): Promise<void> {
  await sandbox.close();
  await db.close();
  port.close();
}
