// A proxy that lets so many bytes a second through to a PostgreSQL, of all connections together: a database that is too slow.
//
//   node bench/slow-postgres.ts <host> <port> <bytes per second>
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const [host, port, rate] = process.argv.slice(2);
const bytesPerMs = Number(rate) / 1_000;
/** When all that was let through so far has passed, in ms of `performance.now()`. */
let busyUntil = 0;

const server = createServer(client => {
  const upstream = connect(Number(port), host);
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
  upstream.pipe(client);
  client.on("data", async (chunk: Buffer) => {
    client.pause();
    busyUntil = Math.max(busyUntil, performance.now()) + chunk.length / bytesPerMs;
    await sleep(Math.max(0, busyUntil - performance.now()));
    upstream.write(chunk);
    client.resume();
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.stdout.write(`${(server.address() as { port: number }).port}\n`);
