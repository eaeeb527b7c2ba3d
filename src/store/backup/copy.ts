// COPY to and from PostgreSQL in its text format, in buffers of whole rows.
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";

/** Rows are passed on in buffers of about this size. */
const bufferBytes = 1 << 20;

/** Runs `copy … to stdout` and passes its rows to `take`, waiting for each call. Returns the number of rows. */
export async function copyOut(
  client: pg.ClientBase,
  statement: string,
  take: (rows: Buffer) => Promise<void>,
): Promise<number> {
  const copied = client.query(copyTo(statement));
  let chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of copied as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    // A chunk ends anywhere. In this format every newline is the end of a row.
    if (bytes < bufferBytes || !chunk.includes("\n")) continue;
    const rows = Buffer.concat(chunks);
    const end = rows.lastIndexOf("\n") + 1;
    chunks = [rows.subarray(end)];
    bytes = rows.length - end;
    await take(rows.subarray(0, end));
  }
  if (bytes > 0) await take(Buffer.concat(chunks));
  return copied.rowCount;
}

/** Runs `copy … from stdin` with these rows. Returns their number. If `rows` throws, so does this, and nothing is copied. */
export async function copyIn(
  client: pg.ClientBase,
  statement: string,
  rows: AsyncIterable<Buffer>,
): Promise<number> {
  const copied = client.query(copyFrom(statement));
  await pipeline(rows, copied);
  return copied.rowCount;
}
