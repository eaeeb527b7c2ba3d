// A proxy in front of PostgreSQL that drops the answer to a chosen statement after it was executed.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type CuttingProxy = {
  /** The database's URL through the proxy. */
  url: string;
  /** Breaks the connection of the next statement with this name or text, once it was executed. */
  loseAnswerTo(statement: string): void;
  /** The number of answers dropped. */
  lost: number;
  close(): Promise<void>;
};

export async function startCuttingProxy(url: string): Promise<CuttingProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let awaited: string | undefined;
  const server = createServer(client => {
    const upstream = connect(Number(target.port), target.hostname);
    let cutting = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (bytes: Buffer) => {
      if (awaited !== undefined && bytes.includes(awaited)) {
        awaited = undefined;
        cutting = true;
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes: Buffer) => {
      if (!cutting) client.write(bytes);
      else if (isReadyForQuery(bytes)) {
        proxy.lost++;
        upstream.destroy();
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = new URL(url);
  own.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy: CuttingProxy = {
    url: own.href,
    lost: 0,
    loseAnswerTo(statement) {
      awaited = statement;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}

/** Whether these bytes end with the message ReadyForQuery: `Z`, its length, one letter. */
function isReadyForQuery(bytes: Buffer): boolean {
  return bytes.length >= 6 && bytes.at(-6) === "Z".charCodeAt(0) && bytes.readInt32BE(bytes.length - 5) === 5;
}
