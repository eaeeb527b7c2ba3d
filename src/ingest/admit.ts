// Admits an ingestion request: checks key, verified email and media type from the headers, then reads the body.
import { type AdmittedKey, hashKey } from "../model/key.ts";
import type { StoringRules } from "../model/privacy.ts";
import { Refusal } from "../model/refusal.ts";
import type { Owners } from "../threads/fair-queue.ts";
import {
  type ContentEncoding,
  type MediaType,
  readContentEncoding,
  readMediaType,
} from "../wire/media-type.ts";
import type { Readers } from "./readers.ts";

/** The request's headers, and its body as a function: the key is checked before a byte of the body is read. */
export type IngestRequest = {
  key: string | undefined;
  contentType: string | undefined;
  contentEncoding: string | undefined;
  /** The service's own id of the request. */
  id: string;
  /** Every x-request-id header of the request. */
  requestIds: string[];
  readBody: (
    encoding: ContentEncoding,
    mediaType: MediaType,
    key: AdmittedKey,
  ) => Promise<{ bytes: Buffer; release: () => void }>;
};

export type FindKey = {
  /** The key with this hexadecimal hash, if it is neither revoked nor expired. */
  findKey: (hash: string) => Promise<AdmittedKey | undefined>;
};

/** What a request is admitted by, once its key is found. */
export type Admitting = {
  /** Throws RATE_LIMITED while the account has too many traces waiting to be evaluated. */
  requireRoom: (accountId: string) => Promise<void>;
};

export type FindStoring = {
  /** What the project redacts now, and the revision of its privacy settings. Never cached. */
  findStoring: (projectId: string) => Promise<{ revision: number; storing: StoringRules | null }>;
};

export async function findKey(deps: FindKey, text: string | undefined): Promise<AdmittedKey> {
  const hint = "Send a key created under Keys in the x-api-key header.";
  if (!text) throw new Refusal("UNAUTHORIZED", { message: "The x-api-key header is missing.", hint });
  const key = await deps.findKey(hashKey(text).toString("hex"));
  if (!key) {
    throw new Refusal("UNAUTHORIZED", { message: "This API key is unknown, revoked or expired.", hint });
  }
  return key;
}

function requireVerified(key: AdmittedKey): void {
  if (key.emailVerified) return;
  throw new Refusal("EMAIL_NOT_VERIFIED", {
    hint: "Open the link in the verification email, then send the trace again with the same key.",
  });
}

/** Reads the body for the duration of `use`, if the key's account may send any. */
export async function withBody<T>(
  { requireRoom }: Admitting,
  request: IngestRequest,
  key: AdmittedKey,
  use: (bytes: Buffer, mediaType: MediaType) => Promise<T>,
): Promise<T> {
  requireVerified(key);
  await requireRoom(key.accountId);
  const mediaType = readMediaType(request.contentType);
  const encoding = readContentEncoding(request.contentEncoding);
  const { bytes, release } = await request.readBody(encoding, mediaType, key);
  try {
    return await use(bytes, mediaType);
  } finally {
    release();
  }
}

/** Whose turn a request with this key is: accounts take turns, and the keys of each. */
export const ownersOf = ({ accountId, id }: AdmittedKey): Owners => [accountId, id];

/** By what a request with this key is read, and what is redacted in it; null: by nothing. */
export function readersOf({ conventions, access, agentIds, storing }: AdmittedKey): Readers | null {
  const only = access === "granular" && agentIds.length === 1 ? agentIds[0]! : null;
  return conventions || storing ? { agents: conventions ?? [], only, storing } : null;
}
