// The floor of the overload benchmark: receives a body and commits it to PostgreSQL, with nothing checked or derived.
//
//   node bench/overload-floor.ts postgresql://…
import { createServer } from "node:http";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.argv[2]!, max: 4 });
await pool.query("create table if not exists floor_bodies (body bytea)");

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    pool.query("insert into floor_bodies values ($1)", [Buffer.concat(chunks)]).then(
      () => response.writeHead(201).end("{}"),
      () => response.writeHead(503).end("{}"),
    );
  });
});

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as { port: number };
  process.stdout.write(`http://127.0.0.1:${port}/\n`);
});
process.on("SIGTERM", () => process.exit(0));
