// A proxy to a database whose connections can be cut.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export type Line = { url: string; cut(): Promise<void>; mend(): Promise<void> };

/** A proxy to the database that can be cut, so that connections break and new ones are refused. */
export async function openLine(databaseUrl: string): Promise<Line> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer(near => {
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from
        .on("error", () => {})
        .on("close", () => {
          sockets.delete(from);
          to.destroy();
        });
    }
  });
  const listen = async (port: number) => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as { port: number }).port;
  };
  const url = new URL(databaseUrl);
  const port = await listen(0);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    async cut() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    async mend() {
      await listen(port);
    },
  };
}
