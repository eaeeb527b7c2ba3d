// The table of checks, one per assertion type: a type without a check does not compile.

import type { Assertion, AssertionType } from "../model/test-case/assertion.ts";
import type { CheckOf, Context } from "./check-context.ts";
import { httpStatus } from "./checks/http-status.ts";
import { jsonMatch } from "./checks/json-match.ts";
import { jsonSchema } from "./checks/json-schema.ts";
import { nodeCall } from "./checks/node-call.ts";
import { responseRegex } from "./checks/response-regex.ts";
import { responseTime } from "./checks/response-time.ts";
import { semantic } from "./checks/semantic.ts";
import { tokenLimit } from "./checks/token-limit.ts";
import { toolCall } from "./checks/tool-call.ts";
import type { Finding } from "./finding.ts";

const checks: { [T in AssertionType]: CheckOf<T> } = {
  node_call: nodeCall,
  tool_call: toolCall,
  token_limit: tokenLimit,
  http_status: httpStatus,
  response_time: responseTime,
  response_regex: responseRegex,
  semantic,
  json_match: jsonMatch,
  json_schema: jsonSchema,
};

export function findingOf(assertion: Assertion, context: Context): Finding {
  return (checks[assertion.type] as CheckOf<AssertionType>)(assertion, context);
}
