// A proxy between a node and PostgreSQL that cuts or stalls its connections, and tells when a named point is reached.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Before PostgreSQL gets the statement, while it runs, and once it is done but before the node knows. */
export const moments = ["sent", "running", "done"] as const;

/** A place in the work of a node, by the statement that it sends to PostgreSQL. */
export type Point = { name: string; statement: RegExp; moment: (typeof moments)[number] };

const statements: [string, RegExp][] = [
  ["storing traces", /\binto traces\b/i],
  ["storing a batch", /\binto trace_batches\b/i],
  ["committing", /^\s*commit\b/i],
  ["claiming or completing a run", /\b(?:update|delete from) queue\b/i],
];

export const points: readonly Point[] = statements.flatMap(([name, statement]) =>
  moments.map(moment => ({ name: `${name}: ${moment}`, statement, moment })),
);

type Waiting = { point: Point; reached: () => void };

export class PostgresProxy {
  readonly #target: { host: string; port: number };
  readonly #pairs = new Set<[Socket, Socket]>();
  readonly #server = createServer({ pauseOnConnect: true }, socket => this.#accept(socket));
  #waiting: Waiting | undefined;
  #isStalled = false;

  private constructor(target: { host: string; port: number }) {
    this.#target = target;
  }

  static async open(target: { host: string; port: number }): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** Calls `reached` when a statement gets to the point, and breaks off that connection. */
  waitFor(point: Point, reached: () => void): void {
    this.#waiting = { point, reached };
  }

  stopWaiting(): void {
    this.#waiting = undefined;
  }

  cut(): void {
    for (const [client, server] of this.#pairs) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
  }

  /** Connections stay, and nothing gets through. */
  stall(): void {
    this.#isStalled = true;
    for (const sockets of this.#pairs) for (const socket of sockets) socket.pause();
  }

  resume(): void {
    this.#isStalled = false;
    for (const sockets of this.#pairs) for (const socket of sockets) socket.resume();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    const server = connect(this.#target);
    const pair: [Socket, Socket] = [client, server];
    this.#pairs.add(pair);
    const reader = new StatementReader();
    // What is held back after a point was reached is never sent.
    let isHeld = false;
    let isRunning: Waiting | undefined;
    const reach = ({ reached }: Waiting) => {
      isHeld = true;
      this.#waiting = undefined;
      reached();
      client.resetAndDestroy();
      server.resetAndDestroy();
    };
    client.on("data", bytes => {
      if (isHeld) return;
      const found = reader.read(bytes);
      const waiting = this.#waiting;
      if (!waiting || !found.some(statement => waiting.point.statement.test(statement))) {
        server.write(bytes);
      } else if (waiting.point.moment === "sent") {
        reach(waiting);
      } else {
        server.write(bytes);
        if (waiting.point.moment === "running") setImmediate(reach, waiting);
        else isRunning = waiting;
      }
    });
    server.on("data", bytes => {
      if (isHeld) return;
      // Unless another connection got there before, or nobody waits any longer.
      if (isRunning && this.#waiting === isRunning) return reach(isRunning);
      isRunning = undefined;
      client.write(bytes);
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on("error", () => {}); // the other end sees the connection close
      socket.on("close", () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
    }
    if (!this.#isStalled) client.resume();
    else server.pause();
  }
}

/** Reads the statements that a client sends, in the simple and in the extended protocol of PostgreSQL. */
class StatementReader {
  #rest: Buffer = Buffer.alloc(0);
  #started = false;
  readonly #prepared = new Map<string, string>();

  /** The statements that these bytes complete. */
  read(bytes: Buffer): string[] {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const found: string[] = [];
    for (;;) {
      // The first message of a connection has no type.
      const head = this.#started ? 1 : 0;
      if (this.#rest.length < head + 4) return found;
      const length = head + this.#rest.readUInt32BE(head);
      if (this.#rest.length < length) return found;
      const message = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      const statement = this.#started ? this.#statementOf(message) : undefined;
      if (statement !== undefined) found.push(statement);
      this.#started = true;
    }
  }

  #statementOf(message: Buffer): string | undefined {
    const type = String.fromCharCode(message[0]!);
    if (type === "Q") return textAt(message, 5);
    if (type === "P") {
      const name = textAt(message, 5);
      this.#prepared.set(name, textAt(message, 5 + Buffer.byteLength(name) + 1));
    }
    if (type === "B") {
      const portal = textAt(message, 5);
      return this.#prepared.get(textAt(message, 5 + Buffer.byteLength(portal) + 1));
    }
    return undefined;
  }
}

function textAt(message: Buffer, start: number): string {
  return message.toString("utf8", start, message.indexOf(0, start));
}
