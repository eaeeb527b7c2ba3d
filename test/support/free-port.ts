// Finds a free port for a server that a test starts later, or stops and starts again.
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A port for a server that starts later or again. Not one that the system hands out (from 32768 on): connecting to such a port while nobody listens, it may take that
 * very port for the client, which is then connected to itself.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    const probe = createServer().listen(port, "127.0.0.1");
    const listens = await once(probe, "listening").then(
      () => true,
      () => false,
    );
    if (!listens) continue;
    probe.close();
    await once(probe, "close");
    return port;
  }
}
