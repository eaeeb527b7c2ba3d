// Sends requests: whole ones, and one that ends at a point at which its node is killed.
import { connect } from "node:net";

export type Request = { path: string; headers: Record<string, string>; body: Buffer };

/** Status 0: the connection broke, or nobody answered in time. */
export type Answer = { status: number; text: string };

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
    return { status: answer.status, text: await answer.text() };
  } catch {
    return { status: 0, text: "" };
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
