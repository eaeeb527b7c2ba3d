// Reads the sizes of a zstd frame from its headers (RFC 8878), without decompressing it.

const magic = 0xfd2fb528;
/** Bytes of the content's size, and of a dictionary's id, by their flags. */
const contentBytes = [0, 2, 4, 8];
const dictionaryBytes = [0, 1, 2, 4];

/**
 * Bytes of the content, and of the frame with all its blocks. Undefined if the bytes do not begin with a whole frame that
 * says how large its content is, or if that is 4 GB or more.
 */
export function frameSizes(bytes: Uint8Array): { content: number; frame: number } | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 9 || view.getUint32(0, true) !== magic) return undefined;
  const flags = bytes[4]!;
  const isSingleSegment = (flags & 32) !== 0;
  const sizeFlag = flags >> 6;
  const length = sizeFlag === 0 && isSingleSegment ? 1 : contentBytes[sizeFlag]!;
  let at = 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes[flags & 3]!;
  if (length === 0 || length === 8 || at + length > bytes.length) return undefined;
  const content =
    length === 1 ? bytes[at]! : length === 2 ? view.getUint16(at, true) + 256 : view.getUint32(at, true);
  at += length;
  for (let isLast = false; !isLast; ) {
    if (at + 3 > bytes.length) return undefined;
    const header = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16);
    isLast = (header & 1) === 1;
    // A block of one repeated byte has only that byte.
    at += 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3);
  }
  if ((flags & 4) !== 0) at += 4;
  return at > bytes.length ? undefined : { content, frame: at };
}
