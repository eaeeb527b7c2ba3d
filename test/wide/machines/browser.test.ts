// Tests that `npm test` runs the browser tests for an ordinary user on a bare Debian, which has no Chromium.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { debianWithNode } from "../support/debian.ts";
import { openMachine } from "../support/machine.ts";
import { leftOut, machineNeeds } from "../support/needs.ts";
import { copyCheckout } from "../support/onlooker.ts";

const folder = "/home/dev/onlooker";
const skip = await leftOut(...machineNeeds);

test("an ordinary user without Chromium gets one, and browser tests pass with it", { skip }, async t => {
  const machine = await openMachine(await debianWithNode({ node: "24.21.0", npm: "11.21.2" }));
  t.after(() => machine.close());
  await copyCheckout(machine, folder, "dev");
  const options = { user: "dev", cwd: folder } as const;

  const files = "test/e2e/shell/frame.test.ts test/e2e/agents/start-snippets.test.ts";
  const tested = await machine.run(`npm test -- ${files}`, options);
  assert.equal(tested.code, 0, `${tested.stdout}${tested.stderr}`);
  assert.match(tested.stderr, /Installing the Chromium of @sparticuz\/chromium/);
  assert.match(tested.stdout, /\n[1-9]\d* passed, 0 failed\n$/);

  // Two test runs that install at the same time.
  await machine.run("rm -r node_modules/.cache/chromium", options);
  const install = `import { installBrowser } from "./test/support/chromium.ts";
    installBrowser(); console.log(process.env.SVC_TEST_CHROMIUM);`;
  const installed = await Promise.all(
    [1, 2].map(() => machine.run(`node --input-type=module --eval '${install}'`, options)),
  );
  for (const { code, stdout, stderr } of installed) {
    assert.equal(code, 0, stderr);
    assert.match(stdout, /node_modules\/\.cache\/chromium\/[\d.]+\/chromium\n$/, stderr);
  }
  assert.equal(readdirSync(join(machine.root, folder, "node_modules/.cache/chromium")).length, 1);
});
