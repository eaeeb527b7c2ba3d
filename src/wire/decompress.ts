// Decompresses what is stored by zstd, small frames with a context that is kept: making one takes most of the time.
import { constants, createZstdDecompress, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { ZlibStream } from "./zlib-stream.ts";
import { frameSizes } from "./zstd-frame.ts";

const keptBytesMax = 1024 * 1024;

/** Throws if the bytes are not whole frames. The result is in memory of its own. */
export function decompress(bytes: Uint8Array): Buffer {
  return decompressKept(bytes) ?? zstdDecompressSync(bytes);
}

/** Undefined if the frame is not an ordinary one, or is damaged, or if this Node keeps no context. */
function decompressKept(bytes: Uint8Array): Buffer | undefined {
  const sizes = frameSizes(bytes);
  if (!kept || !sizes || sizes.content > keptBytesMax || sizes.frame !== bytes.length) return undefined;
  const output = Buffer.allocUnsafeSlow(sizes.content);
  if (kept(bytes, output)) return output;
  // What a failed call left in the context must not be in the next.
  kept = keptContext();
  return undefined;
}

type Decompress = (input: Uint8Array, output: Buffer) => boolean;

/** Null if this Node has something else. The function returns whether the input filled the output. */
function keptContext(): Decompress | null {
  const stream = createZstdDecompress();
  let isSound = true;
  stream.on("error", () => {});
  const { _handle: handle, _writeState: state } = stream as unknown as ZlibStream;
  const whenFailed = handle.onerror;
  handle.onerror = function (this: unknown, ...about: unknown[]) {
    isSound = false;
    whenFailed.apply(this, about);
  };
  return (input, output) => {
    handle.writeSync(constants.ZSTD_e_end, input, 0, input.length, output, 0, output.length);
    const [room, left] = state;
    return isSound && left === 0 && room === 0;
  };
}

/** It is not documented, so it is tried before it is used. */
function triedContext(): Decompress | null {
  try {
    const call = keptContext()!;
    const isSame = ["a".repeat(10_000), "abc", "ab".repeat(300)].every(text => {
      const output = Buffer.alloc(text.length);
      return call(zstdCompressSync(text), output) && output.toString() === text;
    });
    return isSame ? call : null;
  } catch {
    return null;
  }
}

let kept = triedContext();

/** For tests: whether this Node keeps a context. */
export const keepsContext = kept !== null;
