// Allocates memory for small byte strings that outlive their request.

const slabBytes = 64 * 1024;
const smallBytesMax = 8 * 1024;

let slab = Buffer.allocUnsafeSlow(slabBytes);
let used = 0;

/**
 * Uninitialized bytes. Node's own pool also lends 16 KB to every compression, so three results of 150 bytes keep
 * 64 KB: a body of 100,000 one-span traces took 2 GB, and 5 GB once it was sent from one thread to another.
 */
export function allocateDense(length: number): Buffer {
  if (length > smallBytesMax) return Buffer.allocUnsafeSlow(length);
  if (used + length > slabBytes) {
    slab = Buffer.allocUnsafeSlow(slabBytes);
    used = 0;
  }
  used += length;
  return slab.subarray(used - length, used);
}
