// COPY to and from PostgreSQL in its text format, as streams of large buffers: node-postgres itself has no COPY.
import type { Readable } from "node:stream";
import type pg from "pg";

/** What it uses of node-postgres' connection, which its types leave out. */
type Connection = {
  stream: Readable & NodeJS.WritableStream & { writableNeedDrain: boolean };
  query(text: string): void;
  sendCopyFromChunk(chunk: Uint8Array): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
};

/** A query as node-postgres runs it, with the messages of its answer. */
type Submitted = pg.Submittable & {
  handleError(error: Error): void;
  handleReadyForQuery(): void;
  handleCommandComplete(message: { text: string }): void;
  handleCopyData?(message: { chunk: Buffer }): void;
  handleCopyInResponse?(connection: Connection): void;
};

/** Rows are passed on in buffers of about this size. */
const bufferBytes = 1 << 20;

/**
 * Runs `copy … to stdout` and passes its rows to `take`, whole lines in each buffer, waiting for each call. Returns the
 * number of rows.
 */
export function copyOut(
  client: pg.ClientBase,
  statement: string,
  take: (rows: Buffer) => Promise<void>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let connection: Connection;
    let chunks: Buffer[] = [];
    let bytes = 0;
    let count = 0;
    let failure: Error | undefined;
    let taking = Promise.resolve();
    const flush = () => {
      const rows = Buffer.concat(chunks);
      chunks = [];
      bytes = 0;
      connection.stream.pause();
      taking = taking
        .then(() => (failure ? undefined : take(rows)))
        .catch((error: Error) => {
          failure ??= error;
        })
        .finally(() => connection.stream.resume());
    };
    const query: Submitted = {
      submit(given: unknown) {
        connection = given as Connection;
        connection.query(statement);
      },
      handleCopyData({ chunk }) {
        chunks.push(Buffer.from(chunk)); // its memory is reused
        bytes += chunk.length;
        if (bytes >= bufferBytes) flush();
      },
      handleCommandComplete({ text }) {
        count = Number(text.split(" ")[1]);
        if (bytes > 0) flush();
      },
      handleError: reject,
      handleReadyForQuery: () => void taking.then(() => (failure ? reject(failure) : resolve(count))),
    };
    client.query(query);
  });
}

/** Runs `copy … from stdin` with these rows. Returns their number. If `rows` throws, so does this, and nothing is copied. */
export function copyIn(
  client: pg.ClientBase,
  statement: string,
  rows: AsyncIterable<Buffer>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let count = 0;
    let ended = false;
    let failure: Error | undefined;
    const pump = async (connection: Connection) => {
      try {
        for await (const chunk of rows) {
          if (ended) return;
          connection.sendCopyFromChunk(chunk);
          if (connection.stream.writableNeedDrain) await drained(connection.stream);
        }
        connection.endCopyFrom();
      } catch (error) {
        failure = error as Error;
        connection.sendCopyFail("the rows could not be read");
      }
    };
    const query: Submitted = {
      submit: (connection: unknown) => (connection as Connection).query(statement),
      handleCopyInResponse: connection => void pump(connection),
      handleCommandComplete({ text }) {
        count = Number(text.split(" ")[1]);
      },
      handleError(error) {
        ended = true;
        reject(failure ?? error);
      },
      handleReadyForQuery() {
        ended = true;
        if (failure) reject(failure);
        else resolve(count);
      },
    };
    client.query(query);
  });
}

/** Also when the connection ends. */
function drained(stream: Connection["stream"]): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      stream.removeListener("drain", done);
      stream.removeListener("close", done);
      resolve();
    };
    stream.on("drain", done);
    stream.on("close", done);
  });
}
