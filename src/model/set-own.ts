// Sets properties with untrusted keys on plain objects.

/** Sets an own property for any key: plain assignment to `__proto__` would set the prototype instead. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  const first = key.charCodeAt(0);
  if (first >= digit0 && first <= digit9 && index.test(key)) {
    setIndex(target, key, value);
  } else if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

const [digit0, digit9] = [48, 57];
const index = /^\d{1,10}$/;

/**
 * V8 stores `{}["1000"] = 0` as an array of 1,500 slots, 12 KB for one key: 700,000 such objects in a 7 MB body would
 * take 8 GB. An element that is briefly read-only makes V8 use a hash table instead, 210 bytes.
 */
function setIndex(target: Record<string, unknown>, key: string, value: unknown): void {
  const property = { value, enumerable: true, configurable: true };
  if (!Object.hasOwn(target, key)) Object.defineProperty(target, key, { ...property, writable: false });
  Object.defineProperty(target, key, { ...property, writable: true });
}
