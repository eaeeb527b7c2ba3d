// Dividing the database's connections: all processes of a machine together stay under its limit, or say what is missing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigError } from "../../src/config.ts";
import { connectionsFor, layOut, ownPools } from "../../src/service/connections.ts";

const both = { roles: ["http", "worker"] as const, evaluators: 4, httpProcesses: undefined };
/** Of the leader with four evaluators, without the reserve. */
const leader = 4 + 4 + 16;
const beside = 9;

test("one process keeps the pools that it has alone, whatever the limit", () => {
  for (const allowed of [{ limit: 5, reserve: 0 }, { limit: 97, reserve: 10 }, undefined]) {
    assert.deepEqual(layOut(both, allowed, 1), { processes: 1, pools: ownPools });
  }
});

test("behind a pooler, which divides connections itself, every process keeps its pools", () => {
  assert.deepEqual(layOut(both, undefined, 7), { processes: 7, pools: ownPools });
});

test("for every limit and number of processes, all connections together stay within the limit", () => {
  for (const evaluators of [1, 4, 16]) {
    for (const roles of [["http"], ["http", "worker"]] as const) {
      const leading = 8 + (roles.length > 1 ? evaluators * 4 : 0);
      for (let wanted = 2; wanted <= 40; wanted++) {
        for (let limit = 60; limit <= 1000; limit += 7) {
          const config = { ...both, roles, evaluators };
          const { processes, pools, shortage } = layOut(config, { limit, reserve: 10 }, wanted);
          const { main, ingestion } = pools;
          if (processes > 1) {
            const all = leading + processes * (main + ingestion + beside);
            assert.ok(all + 10 <= limit, `${all} of ${limit}`);
            assert.ok(main >= 3 && main <= 10 && ingestion >= 2 && ingestion <= 6);
          }
          assert.equal(shortage === undefined, processes === wanted);
        }
      }
    }
  }
});

test("with as many connections as are asked for, every process has the pools of one alone", () => {
  for (const wanted of [2, 3, 7, 63]) {
    const limit = connectionsFor(both, wanted);
    assert.deepEqual(layOut(both, { limit, reserve: 10 }, wanted), { processes: wanted, pools: ownPools });
  }
});

test("too few connections mean fewer processes and say how many are needed", () => {
  const { processes, shortage } = layOut(both, { limit: 97, reserve: 10 }, 7);
  assert.equal(processes, Math.floor((87 - leader) / (5 + beside)));
  assert.equal(
    shortage,
    "7 HTTP processes need 132 connections to the database, and 97 are allowed; starting 4. Raise max_connections, or set SVC_HTTP_PROCESSES.",
  );
});

test("too few of SVC_DATABASE_CONNECTIONS say to raise that", () => {
  assert.match(layOut(both, { limit: 87, reserve: 0 }, 7).shortage!, /Raise SVC_DATABASE_CONNECTIONS, or/);
});

test("too few connections for the SVC_HTTP_PROCESSES that was set stop the start with one line", () => {
  assert.throws(
    () => layOut({ ...both, httpProcesses: 7 }, { limit: 97, reserve: 10 }),
    new ConfigError(
      "SVC_HTTP_PROCESSES is 7, but 7 HTTP processes need 132 connections to the database, and 97 are allowed. Set it to 4 or less, or raise max_connections (or SVC_DATABASE_CONNECTIONS).",
    ),
  );
});
