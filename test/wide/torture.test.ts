// A minute of `npm run torture`: what is acknowledged while processes, PostgreSQL and connections fail is stored once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { faults } from "../../torture/nemesis.ts";
import { torture } from "../../torture/torture.ts";

const seconds = 60;
/** A busy machine may need longer for as much. */
const secondsMax = 600;

test("nothing acknowledged is lost or stored twice while everything fails", async t => {
  const { report, ledger, deeds } = await torture({
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
  t.diagnostic(`${ledger.acknowledgements} acknowledgements, ${[...deeds].join("; ")}`);
  assert.deepEqual(report.findings, []);
  assert.ok(ledger.acknowledgements >= 300, `${ledger.acknowledgements} acknowledgements`);
  assert.ok(deeds.get("kill-database"), "PostgreSQL was killed");
});
