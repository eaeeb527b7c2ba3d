// The thread that parses large bodies and checks what tenants write: test cases and redaction rules.

import { parseDraft, parseTestCase } from "../../model/test-case/test-case.ts";
import { ownRuleIssues } from "../../redaction/own-rules.ts";
import { serveThread } from "../../threads/serve.ts";
import { parseJson } from "../parse-json.ts";

serveThread({
  body: ({ buffer, byteOffset, byteLength }: Uint8Array) =>
    parseJson(Buffer.from(buffer, byteOffset, byteLength)),
  test: (input: unknown) => parseTestCase(input),
  draft: (input: unknown) => parseDraft(input),
  rules: (rules: Parameters<typeof ownRuleIssues>[0]) => ownRuleIssues(rules),
});
