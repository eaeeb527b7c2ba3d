// A thread that prepares large bodies.
import { messageOf } from "../threads/refusal-message.ts";
import { serveThread } from "../threads/serve.ts";
import { prepareBody } from "./prepare.ts";
import type { PrepareInput, PrepareResult } from "./preparer.ts";

serveThread({ prepare }, { bytesIn });

function prepare({ bytes, mediaType, limits, readers }: PrepareInput): PrepareResult {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const body = prepareBody(buffer, mediaType, limits, readers);
  if (body.path === "canonical") return body;
  const groups = body.groups.map(group =>
    "refusal" in group ? { ...group, refusal: messageOf(group.refusal) } : group,
  );
  return { ...body, groups };
}

function bytesIn(result: PrepareResult): Uint8Array[] {
  if (result.path === "canonical") return [result.batch.bytes];
  const batches = result.groups.flatMap(group => ("batch" in group ? [group.batch.bytes] : []));
  return [...batches, ...result.resources.map(resource => resource.bytes)];
}
