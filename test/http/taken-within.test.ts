// Answers that clients read slowly.
import assert from "node:assert/strict";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import { takenWithin } from "../../src/http/frame/taken-within.ts";
import { eventually } from "../support/eventually.ts";

const part = Buffer.alloc(300_000, "x");
const parts = Array.from({ length: 100 }, () => part);
let ended = 0;

async function* lines() {
  try {
    for (const part of parts) yield part;
  } finally {
    ended++;
  }
}

const server = createServer((_, response) => {
  Readable.from(takenWithin(100, lines(), () => response.destroy())).pipe(response);
});
before(() => new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve)));
after(() => server.close());

const answer = (): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    get({ host: "127.0.0.1", port, agent: false }, resolve).on("error", reject);
  });

test("a client that stops reading is disconnected", async () => {
  const response = await answer();
  let disconnected = false;
  response.on("error", () => {
    disconnected = true;
  });
  response.pause();
  await eventually(
    () =>
      new Promise<void>((resolve, reject) =>
        server.getConnections((_, count) => (count === 0 ? resolve() : reject(new Error("still connected")))),
      ),
  );
  response.resume();
  await eventually(() => assert.ok(disconnected));
});

test("a client that reads gets everything, and nothing is called after the end", async () => {
  const before = ended;
  let slow = 0;
  const chunks: Uint8Array[] = [];
  for await (const chunk of takenWithin(60_000, lines(), () => slow++)) chunks.push(chunk);
  assert.ok(chunks.every(chunk => chunk.length <= 64 * 1024));
  assert.ok(Buffer.concat(chunks).equals(Buffer.concat(parts)));
  assert.equal(ended, before + 1);
  assert.equal(slow, 0);
});
