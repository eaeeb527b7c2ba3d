// A minute of `npm run torture`: what is acknowledged while processes, PostgreSQL and connections fail is stored once.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { filesOfMovedClocks } from "../../../torture/clock-library.ts";
import { faults } from "../../../torture/nemesis.ts";
import { torture } from "../../../torture/torture.ts";
import { childEnv } from "../../support/child-env.ts";
import { eventually } from "../../support/eventually.ts";

const seconds = 60;
/** A busy machine may need longer for as much. */
const secondsMax = 600;

test("nothing acknowledged is lost or stored twice while everything fails", async t => {
  const result = await torture({
    ...{ seed: 1, nodes: 2, clients: 8, faults },
    async until(ledger, deeds) {
      const started = performance.now();
      const elapsed = () => (performance.now() - started) / 1_000;
      await delay(seconds * 1_000);
      const isEnough = () => ledger.acknowledgements >= 300 && (deeds.get("kill-database") ?? 0) > 0;
      while (!isEnough() && elapsed() < secondsMax) await delay(500);
    },
    say: line => t.diagnostic(line),
  });
  const { report, ledger, deeds } = result!;
  t.diagnostic(`${ledger.acknowledgements} acknowledgements, ${[...deeds].join("; ")}`);
  assert.deepEqual(report.findings, []);
  assert.ok(ledger.acknowledgements >= 300, `${ledger.acknowledgements} acknowledgements`);
  assert.ok(deeds.get("kill-database"), "PostgreSQL was killed");
  assert.deepEqual(filesOfMovedClocks(), []);
});

test("Ctrl-C twice ends without the check, and leaves neither processes nor files", async t => {
  const folder = mkdtempSync(join(tmpdir(), "onlooker-torture-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o711); // for the user that PostgreSQL runs as when the tests run as root
  const options = ["--nodes", "1", "--clients", "2", "--faults", "cut", "fill-disk", "fail-over"];
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../../torture/main.ts"), ...options], {
    env: { ...childEnv, TMPDIR: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const exited = once(child, "exit");
  /** Command lines of processes that use the folder, other than its own. */
  const processes = () =>
    globSync("/proc/[0-9]*/cmdline").flatMap(file => {
      try {
        const line = readFileSync(file, "utf8").replaceAll("\0", " ");
        return line.includes(folder) ? [line] : [];
      } catch {
        return []; // it has ended
      }
    });
  await eventually(() => assert.ok(processes().length >= 2));
  await delay(5_000);
  child.kill("SIGINT");
  await eventually(() => assert.match(output, /Ending the faults/));
  child.kill("SIGINT");
  const [code, signal] = await exited;
  assert.deepEqual([code, signal], [1, null]);
  assert.match(output, /Ending without the check/);
  assert.deepEqual(processes(), []);
  assert.deepEqual(readdirSync(folder), []);
});
