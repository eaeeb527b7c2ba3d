// Tests how many passwords are hashed at a time: a crowd waits, and leaves threads to the rest of the service.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { hashingFor, limitHashing } from "../../../src/http/accounts/passwords.ts";

/** Hashing that ends when told to, and how many hashes are being computed. */
function slowHashing() {
  const open: (() => void)[] = [];
  const work = () => new Promise<void>(resolve => open.push(resolve));
  return {
    open,
    hashing: limitHashing({ hash: () => work().then(() => "hash"), verify: () => work().then(() => true) }),
  };
}

test("two passwords are hashed or verified at a time, and the others wait their turn", async () => {
  const { open, hashing } = slowHashing();
  const crowd = Promise.all(
    Array.from({ length: 10 }, (_, at) =>
      at % 2 ? hashing.hash("a password") : hashing.verify({ hash: "hash", password: "a password" }),
    ),
  );
  for (let done = 0; done < 10; done++) {
    await turn();
    assert.equal(open.length, Math.min(2, 10 - done));
    open.shift()!();
  }
  assert.equal((await crowd).length, 10);
});

test("however many wait of one network, others take turns with it", async () => {
  const { open, hashing } = slowHashing();
  const order: string[] = [];
  const hash = (ip: string) => hashingFor(ip, () => hashing.hash("a password")).then(() => order.push(ip));
  // Eight networks of one /48, which have one turn together.
  const crowd = Array.from({ length: 8 }, (_, at) => hash(`2001:db8:1:${at}::1`));
  const others = ["198.51.100.1", "198.51.100.2", "2001:db8:2::1"].map(hash);
  const all = Promise.all([...crowd, ...others]);
  for (let done = 0; done < 11; done++) {
    await turn();
    open.shift()!();
  }
  await all;
  assert.deepEqual(
    order.slice(3, 6),
    ["198.51.100.1", "198.51.100.2", "2001:db8:2::1"],
    "after two that had begun, and a turn of the crowd",
  );
});

test("a password that waits too long is UNAVAILABLE, with Retry-After", async t => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { open, hashing } = slowHashing();
  const both = [hashing.hash("one"), hashing.hash("two")];
  const third = assert.rejects(hashing.hash("three"), { code: "UNAVAILABLE", status: 503 });
  await turn();
  t.mock.timers.tick(10_000);
  await third;
  for (const end of open) end();
  await Promise.all(both);
  // The place of one that no longer waits goes to nobody else.
  const next = hashing.hash("four");
  await turn();
  open.at(-1)!();
  assert.equal(await next, "hash");
});
