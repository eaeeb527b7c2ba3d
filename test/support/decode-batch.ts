// Decodes a stored batch in one step, as tests compare it; the service scans and reads batches separately.
import type { Batch } from "../../src/model/trace/trace.ts";
import { readBatch, scan } from "../../src/wire/batch.ts";

export function decodeBatch(bytes: Uint8Array): Batch {
  return readBatch(scan(bytes));
}
