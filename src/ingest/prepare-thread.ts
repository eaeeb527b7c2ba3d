// Inside the threads that prepare large bodies.
import { messageOf } from "../threads/refusal-message.ts";
import { serveThread } from "../threads/serve.ts";
import { prepareBody } from "./prepare.ts";
import type { PrepareAnswer, PrepareAsk } from "./preparer.ts";

serveThread({ prepare }, { bytesIn });

function prepare({ bytes, mediaType, limits }: PrepareAsk): PrepareAnswer {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const body = prepareBody(buffer, mediaType, limits);
  if (body.path === "canonical") return body;
  const groups = body.groups.map(group =>
    "refusal" in group ? { ...group, refusal: messageOf(group.refusal) } : group,
  );
  return { path: "otlp", groups };
}

function bytesIn(answer: PrepareAnswer): Uint8Array[] {
  if (answer.path === "canonical") return [answer.batch.bytes];
  return answer.groups.flatMap(group => ("batch" in group ? [group.batch.bytes] : []));
}
