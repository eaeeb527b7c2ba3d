// Slab allocator for small buffers that outlive their request.

const slabBytes = 64 * 1024;
const smallBytesMax = 8 * 1024;

let slab = Buffer.allocUnsafeSlow(slabBytes);
let used = 0;

/**
 * Returns uninitialized bytes. In Node's own pool every compression takes 16 KB, so three results of 150 bytes keep
 * 64 KB alive: a body of 100,000 one-span traces took 2 GB, and 5 GB after it was sent between threads.
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
