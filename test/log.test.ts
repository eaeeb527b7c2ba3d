// The log: JSON lines without secrets, wherever these are, and the same lines as text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatLine } from "../src/log/text.ts";
import { openLog } from "../src/log.ts";

test("secrets are removed at every depth at which they are logged", () => {
  const lines: string[] = [];
  const log = openLog("info", { write: line => void lines.push(line) });
  const headers = {
    cookie: "canary",
    authorization: "canary",
    "x-api-key": "canary",
    "set-cookie": "canary",
  };
  log.info({ password: "canary", body: { token: "canary", newPassword: "canary" }, request: { headers } });
  log.info(headers, "headers");
  const error = Object.assign(new Error("duplicate key"), { detail: "Key (email)=(canary) exists" });
  log.error({ err: error, req: { method: "GET", url: "/verify-email?token=canary" } }, "failed");
  assert.equal(lines.length, 3);
  for (const line of lines) {
    assert.equal(line.includes("canary"), false, line);
    assert.doesNotThrow(() => JSON.parse(line));
  }
  assert.equal(JSON.parse(lines[2]!).req.path, "/verify-email");
});

test("messages below the level are not logged", () => {
  const lines: string[] = [];
  openLog("warn", { write: line => void lines.push(line) }).info("quiet");
  assert.deepEqual(lines, []);
});

const time = new Date(2026, 10, 22, 9, 5, 7).getTime();

test("as text, an info line is its time and its message", () => {
  const line = formatLine(
    { level: 30, time, pid: 1, hostname: "h", msg: "Stopped", dataDir: "/data" },
    false,
  );
  assert.equal(line, "09:05:07  Stopped\n");
});

test("as text, a warning has its cause and its fields, and an error also its stack", () => {
  const line = { level: 40, time, msg: "Waiting", err: "no route" };
  const warning = formatLine({ ...line, runId: "r1", ids: ["a"] }, false);
  assert.equal(warning, '09:05:07  Warning: Waiting (no route) runId=r1 ids=["a"]\n');
  const err = { type: "Error", message: "boom", stack: "Error: boom\n    at run.ts:1" };
  assert.equal(
    formatLine({ level: 50, time, msg: "Failed", err }, false),
    "09:05:07  Error: Failed (boom)\nError: boom\n    at run.ts:1\n",
  );
});

test("text is colored only on a terminal", () => {
  assert.match(formatLine({ level: 40, time, msg: "Waiting" }, true), /\u001b\[33mWarning:/);
});

test("control characters are escaped in both formats, so that no text can fake a line or move the cursor", () => {
  const hostile = "one\n12:00:00  two\u001b[2J\r\u009b\u2028\u0000";
  const lines: string[] = [];
  const log = openLog("info", { write: line => void lines.push(line) });
  log.error({ err: Object.assign(new Error(hostile), { stack: `Error: ${hostile}` }), hostile }, hostile);
  assert.equal(lines.length, 1);
  assert.equal(lines[0]!.trimEnd().includes("\n"), false);
  const line = JSON.parse(lines[0]!);
  assert.equal(line.msg, hostile);
  const text = formatLine(line, false);
  // Only a stack has several lines; its message is one of them.
  assert.doesNotMatch(text.replaceAll("\n", ""), /[\p{Cc}\u2028]/u);
  assert.match(text, /one\\u000a12:00:00 {2}two\\u001b\[2J/);
  const [first, ...stack] = text.trimEnd().split("\n");
  assert.match(first!, /^\d\d:\d\d:\d\d {2}Error: one/);
  assert.deepEqual(stack, ["Error: one", "12:00:00  two\\u001b[2J\\u000d\\u009b\\u2028\\u0000"]);
});
