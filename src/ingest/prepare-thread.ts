// The thread that prepares large bodies.
import { parentPort } from "node:worker_threads";
import { Refusal } from "../model/refusal.ts";
import { type PreparedBody, prepareBody } from "./prepare.ts";
import type { PrepareReply, PrepareRequest, RefusalMessage } from "./preparer.ts";

const port = parentPort!;

port.on("message", (request: PrepareRequest) => {
  const reply = answer(request);
  port.postMessage(reply, buffersOf(reply));
});

function answer({ bytes, mediaType, limits }: PrepareRequest): PrepareReply {
  try {
    const body = prepareBody(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      mediaType,
      limits,
    );
    return body.path === "canonical" ? { path: "canonical", body } : { path: "otlp", groups: groupsOf(body) };
  } catch (error) {
    if (error instanceof Refusal) return { path: "refused", refused: messageOf(error) };
    return { path: "failed", error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

function groupsOf({ groups }: Extract<PreparedBody, { path: "otlp" }>) {
  return groups.map(group =>
    "refusal" in group
      ? { serviceName: group.serviceName, spanCount: group.spanCount, refused: messageOf(group.refusal) }
      : group,
  );
}

function messageOf({ code, message, hint, issues }: Refusal): RefusalMessage {
  return { code, detail: { message, ...(hint && { hint }), ...(issues && { issues }) } };
}

/** The large buffers change hands instead of being copied. */
function buffersOf(reply: PrepareReply): ArrayBuffer[] {
  const batches =
    reply.path === "canonical"
      ? [reply.body.batch]
      : reply.path === "otlp"
        ? reply.groups.flatMap(group => ("batch" in group ? [group.batch] : []))
        : [];
  const owned = batches
    .map(batch => batch.bytes)
    .filter(bytes => bytes.byteLength === bytes.buffer.byteLength)
    .map(bytes => bytes.buffer as ArrayBuffer);
  return [...new Set(owned)];
}
