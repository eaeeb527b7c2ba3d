// Clients that disconnect while they send: nothing of theirs is an error of the service, so the log has no warning.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { placesOfKeys, takePlace } from "../../src/http/frame/places.ts";
import { world } from "../support/world.ts";

const service = world({ roles: ["http"] });

/** Lets the service finish what it began before: each answer takes a turn of its event loop and a query. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
}

for (const [what, path, announced, sent] of [
  ["to /public/traces with a wrong key, small", "/public/traces", 40, 4],
  ["to /public/traces with a wrong key, large", "/public/traces", 30_000_000, 2_000_000],
  ["to /public/traces with a valid key", "/public/traces", 20_000_000, 3_000_000],
  ["to the path that exporters double", "/public/traces/v1/traces", 30_000_000, 2_000_000],
  ["to a route that reads JSON", "/api/auth/sign-in/email", 40, 4],
  ["to a route that does not exist", "/nowhere", 40, 4],
] as const) {
  test(`a request ${what} that is cut off leaves no warning in the log`, async () => {
    const before = service.logs.length;
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    const key = what.includes("valid") ? service.key : "svc_wrong";
    const head = [`POST ${path} HTTP/1.1`, "host: localhost", "content-type: application/json"];
    head.push(`x-api-key: ${key}`, `content-length: ${announced}`);
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    await new Promise(resolve => socket.write(Buffer.alloc(sent, " "), resolve));
    socket.destroy();
    await once(socket, "close");
    await settle();
    const lines = service.logs.slice(before).map(line => JSON.parse(line));
    assert.deepEqual(
      lines.filter(({ level }) => level >= 40),
      [],
    );
  });
}

test("a client that disconnects while it waits for a place is not counted as UNAVAILABLE", async () => {
  const places = placesOfKeys(1);
  const release = await takePlace(places, { holders: ["another"], what: "requests", waitMs: 0 });
  const gone = new AbortController();
  const wanted = { holders: ["account"], what: "requests", waitMs: 60_000, signal: gone.signal };
  const waiting = takePlace(places, wanted);
  gone.abort();
  await assert.rejects(waiting, { code: "VALIDATION_ERROR" });
  release();
});
