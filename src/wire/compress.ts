// Compresses what is stored by zstd, small inputs with a context that is kept: making one takes a quarter of the time.
import { constants, createZstdCompress, zstdCompressSync } from "node:zlib";
import { allocateDense } from "./slab.ts";
import type { ZlibStream } from "./zlib-stream.ts";

// Level 1: on a 27 KB trace, level 3 saves 3% of the bytes and takes a quarter longer.
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

const keptBytesMax = 256 * 1024;
/** Enough for what cannot be compressed. */
const outBytes = keptBytesMax + 64 * 1024;

/** The same bytes for the same input, whatever was compressed before. They are in a buffer that is not much larger. */
export function compress(input: Buffer): Buffer {
  return (input.length <= keptBytesMax && kept?.(input)) || trimmed(zstdCompressSync(input, options));
}

// Reused for ordinary texts: a buffer for each would be most of the garbage of ingestion.
const scratch = Buffer.allocUnsafeSlow(512 * 1024);

/** The text in UTF-8, compressed. `rawLength`: bytes before compression. */
export function compressText(text: string): { bytes: Buffer; rawLength: number } {
  // A character is at most three bytes of UTF-8.
  const raw =
    text.length * 3 <= scratch.length ? scratch.subarray(0, scratch.write(text)) : Buffer.from(text);
  return { bytes: compress(raw), rawLength: raw.length };
}

/** Texts and bytes of UTF-8 one after the other, compressed. */
export function compressParts(parts: readonly (string | Buffer)[]): Buffer {
  const bytesMax = parts.reduce((sum, { length }) => sum + length * 3, 0);
  if (bytesMax > scratch.length)
    return compress(Buffer.concat(parts.map(part => Buffer.from(part as string))));
  let at = 0;
  for (const part of parts) {
    if (typeof part === "string") at += scratch.write(part, at);
    else {
      scratch.set(part, at);
      at += part.length;
    }
  }
  return compress(scratch.subarray(0, at));
}

/** Copies small results: compression returns a view of a buffer of at least 16 KB, which would be kept in memory. */
function trimmed(bytes: Buffer): Buffer {
  return bytes.length > bytes.buffer.byteLength / 2 ? bytes : copied(bytes);
}

function copied(bytes: Buffer): Buffer {
  const own = allocateDense(bytes.length);
  bytes.copy(own);
  return own;
}

/** Null if this Node has something else. The function returns undefined if a call did not do. */
function keptContext(): ((input: Buffer) => Buffer | undefined) | null {
  const { _handle: handle, _writeState: state } = createZstdCompress(options) as unknown as ZlibStream;
  const output = Buffer.allocUnsafeSlow(outBytes);
  const call = (input: Buffer) => {
    handle.writeSync(constants.ZSTD_e_end, input, 0, input.length, output, 0, outBytes);
    const [room, left] = state;
    return left === 0 && room! > 0 ? copied(output.subarray(0, outBytes - room!)) : undefined;
  };
  return isSame(call) ? call : null;
}

/** It is not documented, so it is tried before it is used. */
function isSame(call: (input: Buffer) => Buffer | undefined): boolean {
  try {
    return ["", "a".repeat(10_000), "abc", ""].every(text => {
      const input = Buffer.from(text);
      return call(input)?.equals(zstdCompressSync(input, options));
    });
  } catch {
    return false;
  }
}

const kept = keptContext();

/** For tests: whether this Node keeps a context. */
export const keepsContext = kept !== null;
