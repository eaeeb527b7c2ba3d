// Sends requests: whole ones, and one that ends at a point at which its node is killed.
import { connect } from "node:net";
import { statusMessage } from "../test/support/rpc-status.ts";

export type Request = { path: string; headers: Record<string, string>; body: Buffer };

/** Status 0: the connection broke, or nobody answered in time. `code`: of a refusal. */
export type Answer = { status: number; text: string; code?: string | undefined };

/** Once the node has read the header, has got half of the body, and has begun to answer. */
export const requestPoints = ["header read", "mid-body", "mid-reply"] as const;
export type RequestPoint = (typeof requestPoints)[number];

// As long as an exporter waits for an answer.
const answerMs = 10_000;
const pointMs = 3_000;

export async function send(
  url: string,
  { path, headers, body }: Request,
  aborted: AbortSignal,
): Promise<Answer> {
  const signal = AbortSignal.any([aborted, AbortSignal.timeout(answerMs)]);
  try {
    const answer = await fetch(url + path, { method: "POST", headers, body: new Uint8Array(body), signal });
    const bytes = await answer.bytes();
    const text = new TextDecoder().decode(bytes);
    return { status: answer.status, text, code: codeOf(answer, bytes, text) };
  } catch {
    return { status: 0, text: "" };
  }
}

/** Undefined: it was acknowledged, or somebody else answered. */
function codeOf({ ok, headers }: Response, bytes: Uint8Array, text: string): string | undefined {
  if (ok) return undefined;
  try {
    const isProtobuf = headers.get("content-type") === "application/x-protobuf";
    return isProtobuf ? statusMessage(bytes).split(":", 1)[0] : JSON.parse(text).code;
  } catch {
    return undefined;
  }
}

/** Calls `reached` at the point, and sends and reads nothing after it. False if the point was not reached in time. */
export async function sendUpTo(
  point: RequestPoint,
  url: string,
  { path, headers, body }: Request,
  reached: () => void,
): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const reach = () => {
    reached();
    resolve(true);
  };
  // The node answers 100 Continue when it has read the header and found the key right.
  const lines = Object.entries({ ...headers, host: hostname, "content-length": body.length });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`POST ${path} HTTP/1.1\r\n${head}expect: 100-continue\r\n\r\n`);
  socket.once("data", bytes => {
    if (!bytes.toString("latin1").startsWith("HTTP/1.1 100")) resolve(false);
    else if (point === "header read") reach();
    else if (point === "mid-body") socket.write(body.subarray(0, body.length / 2), () => setImmediate(reach));
    else {
      socket.once("data", reach);
      socket.write(body);
    }
  });
  socket.on("error", () => resolve(false));
  socket.setTimeout(pointMs, () => resolve(false));
  const isReached = await promise;
  socket.destroy();
  return isReached;
}
