// Reads the errors of OTLP over protobuf.
import protobuf from "protobufjs/minimal.js";

/** The message of a google.rpc.Status. */
export function statusMessage(bytes: Uint8Array): string {
  const walk = protobuf.Reader.create(bytes);
  let message = "";
  while (walk.pos < walk.len) {
    const tag = walk.uint32();
    if (tag === 2 * 8 + 2) message = walk.string();
    else walk.skipType(tag & 7);
  }
  return message;
}
