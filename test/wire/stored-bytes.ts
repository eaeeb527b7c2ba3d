// Bytes to compress, as generators of fast-check: texts that repeat, bytes without order, and long runs of one byte.
import fc from "fast-check";

const words = fc.array(fc.constantFrom("gen_ai.prompt", "order", " ", "1042", "ships", "\0", "żółć"), {
  maxLength: 4_000,
});
export const input = fc.oneof(
  words.map(list => Buffer.from(list.join(""))),
  fc.uint8Array({ maxLength: 3_000 }).map(bytes => Buffer.from(bytes)),
  fc.tuple(fc.nat(400_000), fc.nat(255)).map(([length, byte]) => Buffer.alloc(length, byte)),
);
