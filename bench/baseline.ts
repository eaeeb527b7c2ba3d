// Baseline server: reads and parses the same bodies and answers 200, without validating or storing anything.
import { createServer } from "node:http";
import protobuf from "protobufjs/minimal.js";

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    const spans =
      request.headers["content-type"] === "application/json"
        ? (JSON.parse(body.toString()) as { resourceSpans: unknown[] }).resourceSpans.length
        : readMessage(new protobuf.BufferReader(body), body.length, messages.request);
    response.writeHead(spans > 0 ? 200 : 400, {
      "content-type": request.headers["content-type"],
      "content-length": 0,
    });
    response.end();
  });
});

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as { port: number };
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/public/traces` })}\n`);
});
process.on("SIGTERM", () => process.exit(0));

/** The fields of a message that contain messages and text, by field number. */
type Message = { messages: Record<number, Message>; texts: number[] };

const anyValue: Message = { messages: {}, texts: [1] };
const keyValue: Message = { messages: { 2: anyValue }, texts: [1] };
const span: Message = { messages: { 9: keyValue, 15: { messages: {}, texts: [2] } }, texts: [5] };
const scopeSpans: Message = { messages: { 1: { messages: {}, texts: [1, 2] }, 2: span }, texts: [] };
const resourceSpans: Message = {
  messages: { 1: { messages: { 1: keyValue }, texts: [] }, 2: scopeSpans },
  texts: [],
};
const messages = { request: { messages: { 1: resourceSpans }, texts: [] } satisfies Message };

/** Reads every field into a JavaScript value, as any decoder must; returns the number of fields. */
function readMessage(reader: protobuf.Reader, end: number, { messages, texts }: Message): number {
  let fields = 0;
  const values: unknown[] = [];
  while (reader.pos < end) {
    const tag = reader.uint32();
    const field = tag >>> 3;
    fields++;
    if ((tag & 7) !== 2) reader.skipType(tag & 7);
    else if (messages[field]) {
      const length = reader.uint32();
      fields += readMessage(reader, reader.pos + length, messages[field]);
    } else values.push(texts.includes(field) ? reader.string() : reader.bytes());
  }
  return fields;
}
