// The log: JSON lines in which secrets do not stand, wherever they were put.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openLog } from "../src/log.ts";

test("secrets are cut out at the depths at which they are logged", () => {
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

test("what is below the level is not logged", () => {
  const lines: string[] = [];
  openLog("warn", { write: line => void lines.push(line) }).info("quiet");
  assert.deepEqual(lines, []);
});
