// The logger of a request: created only if it logs, and then it names the request.
import assert from "node:assert/strict";
import { test } from "node:test";
import { requestLog } from "../../src/http/frame/request-log.ts";
import { openLog } from "../../src/log.ts";

function open() {
  const lines: string[] = [];
  const parent = openLog("info", { write: line => void lines.push(line) });
  let children = 0;
  const counting = Object.assign(Object.create(parent) as typeof parent, {
    child: (...given: Parameters<typeof parent.child>) => {
      children++;
      return parent.child(...given);
    },
  });
  const log = requestLog(counting, { reqId: "r-1" }, {});
  return { log, children: () => children, read: () => lines.map(line => JSON.parse(line)) };
}

test("nothing is created for a request that logs nothing", () => {
  const { log, children } = open();
  assert.equal(log.level, "info");
  for (const name of ["fatal", "error", "warn", "info", "debug", "trace", "silent", "child"] as const)
    assert.equal(typeof log[name], "function");
  assert.equal(children(), 0);
});

test("each line has the id of the request, and secrets are cut out", () => {
  const { log, children, read } = open();
  log.error({ err: new Error("broken"), password: "hunter2" }, "request failed");
  log.warn("slow");
  log.debug("left out by the level");
  log.child({ part: "body" }).info("read");
  const [failed, slow, part, ...more] = read();
  assert.deepEqual([failed.level, failed.reqId, failed.msg], [50, "r-1", "request failed"]);
  assert.equal(failed.err.message, "broken");
  assert.equal(failed.password, "[cut out]");
  assert.deepEqual([slow.level, slow.reqId, slow.msg], [40, "r-1", "slow"]);
  assert.deepEqual([part.reqId, part.part, part.msg], ["r-1", "body", "read"]);
  assert.deepEqual([more, children()], [[], 1]);
});
