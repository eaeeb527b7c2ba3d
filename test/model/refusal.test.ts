// The error codes of the API are a closed list: clients branch on them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { refusals } from "../../src/model/refusals.ts";

/** Of the contract's table of errors. */
const ofContract = {
  VALIDATION_ERROR: 400,
  CUSTOM_API_PLATFORM_NOT_FOUND: 400,
  OTLP_SERVICE_NAME_REQUIRED: 400,
  OTLP_NO_SPANS: 400,
  OTLP_ID_INVALID: 400,
  OTLP_PROTOBUF_INVALID: 400,
  UNAUTHORIZED: 401,
  EMAIL_NOT_VERIFIED: 403,
  DAILY_LIMIT_REACHED: 403,
  OTLP_PLATFORM_NOT_ALLOWED: 403,
  OTLP_PLATFORM_NOT_FOUND: 404,
  PAYLOAD_TOO_LARGE: 413,
};

/** What the contract has no code for. */
const added = {
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  UNSUPPORTED_MEDIA_TYPE: 415,
  EXPECTATION_FAILED: 417,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
};

/** Access tokens that are valid, but not for the request: no other 403 is about that (docs/decisions/009-rulings.md). */
const ofAccessTokens = { FORBIDDEN: 403 };

test("the API answers with no other error codes, and with these statuses", () => {
  const statuses = Object.fromEntries(Object.entries(refusals).map(([code, [status]]) => [code, status]));
  assert.deepEqual(statuses, { ...ofContract, ...added, ...ofAccessTokens });
});
