// Stored batches are decompressed with a context that is kept, which damaged ones leave as it was.
import assert from "node:assert/strict";
import { test } from "node:test";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { compress } from "../../src/wire/compress.ts";
import { decompress, keepsContext } from "../../src/wire/decompress.ts";
import { frameSizes } from "../../src/wire/zstd-frame.ts";
import { input } from "./stored-bytes.ts";

/** What Node's own function makes of the bytes: a message if it throws. */
function outcomeOf(read: (bytes: Buffer) => Buffer, bytes: Buffer): Buffer | string {
  try {
    return read(bytes);
  } catch (error) {
    return (error as Error).message;
  }
}

test("this Node keeps a context", () => {
  assert.equal(keepsContext, true);
});

test("every input comes back, whatever was decompressed before, and the sizes are known", () => {
  const write = fc.constantFrom(
    compress,
    (one: Buffer) => zstdCompressSync(one),
    (one: Buffer) => zstdCompressSync(one, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(input, write), { minLength: 1, maxLength: 12 }), inputs => {
      for (const [one, write] of inputs) {
        const bytes = write(one);
        const sizes = frameSizes(bytes);
        if (sizes) assert.deepEqual(sizes, { content: one.length, frame: bytes.length });
        assert.deepEqual(decompress(bytes), one);
      }
    }),
    { numRuns: 150 },
  );
});

test("damaged and cut bytes end as with a new context, and what comes after them is whole", () => {
  const sound = compress(Buffer.from(`${"The order ships today. ".repeat(200)}1042`));
  const damage = fc.record({
    at: fc.nat(),
    byte: fc.integer({ min: 1, max: 255 }),
    cut: fc.option(fc.nat()),
  });
  fc.assert(
    fc.property(input, damage, (one, { at, byte, cut }) => {
      const bytes = Buffer.from(compress(one));
      bytes[at % bytes.length]! ^= byte;
      const damaged = cut === null ? bytes : compress(one).subarray(0, cut % bytes.length);
      assert.deepEqual(outcomeOf(decompress, damaged), outcomeOf(zstdDecompressSync, damaged));
      assert.deepEqual(decompress(sound), zstdDecompressSync(sound));
    }),
    { numRuns: 500 },
  );
});

test("what is in several frames, or large, is decompressed too", () => {
  const large = Buffer.alloc(3_000_000, "order 1042 ");
  for (const bytes of [compress(large), zstdCompressSync(large)]) assert.deepEqual(decompress(bytes), large);
  const two = Buffer.concat([compress(Buffer.from("one")), compress(Buffer.from("two"))]);
  assert.deepEqual(outcomeOf(decompress, two), outcomeOf(zstdDecompressSync, two));
  assert.deepEqual(decompress(compress(Buffer.alloc(0))), Buffer.alloc(0));
});
