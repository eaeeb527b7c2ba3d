// What Node's own zlib streams call: not documented, so it is tried before it is used.

type WriteSync = (
  flush: number,
  ...[input, at, length, output, outputAt, room]: [Uint8Array, number, number, Buffer, number, number]
) => void;

export type ZlibStream = {
  _handle: { writeSync: WriteSync; onerror: (...about: unknown[]) => void };
  /** The room that is left in the output, and the bytes that are left of the input. */
  _writeState: Uint32Array;
};
