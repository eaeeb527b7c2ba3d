// Stored batches are compressed with a context that is kept, and nothing of one is in another.
import assert from "node:assert/strict";
import { test } from "node:test";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { compress, keepsContext } from "../../src/wire/compress.ts";
import { input } from "./stored-bytes.ts";

const fresh = (input: Buffer) =>
  zstdCompressSync(input, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });

test("this Node keeps a context", () => {
  assert.equal(keepsContext, true);
});

test("the bytes are those of a new context, whatever came before", () => {
  fc.assert(
    fc.property(fc.array(input, { minLength: 1, maxLength: 12 }), inputs => {
      for (const one of inputs) {
        const compressed = compress(one);
        assert.deepEqual(compressed, fresh(one));
        assert.deepEqual(zstdDecompressSync(compressed), one);
      }
    }),
    { numRuns: 150 },
  );
});

test("results are independent, also of what is large or cannot be compressed", () => {
  const random = (length: number) => {
    let state = length;
    return Buffer.from(
      Uint8Array.from({ length }, () => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return state >>> 24;
      }),
    );
  };
  const inputs = [0, 1, 100, 256 * 1024, 256 * 1024 + 1, 1_000_000, 10].map(random);
  const results = inputs.map(compress);
  for (const [at, result] of results.entries()) {
    assert.deepEqual(zstdDecompressSync(result), inputs[at]);
    assert.deepEqual(result, fresh(inputs[at]!));
  }
});

test("an empty input is a whole frame", () => {
  assert.deepEqual(zstdDecompressSync(compress(Buffer.alloc(0))), Buffer.alloc(0));
});
