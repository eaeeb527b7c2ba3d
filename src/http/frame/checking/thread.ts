// The thread that parses large bodies and checks what tenants write: test cases and redaction rules.

import type { RedactionRules } from "../../../model/redaction.ts";
import { wrapperNotices } from "../../../model/test-case/schema-wrapper.ts";
import { parseDraft, parseTestCase } from "../../../model/test-case/test-case.ts";
import { testCaseWarnings } from "../../../model/test-case/warnings.ts";
import { ownRuleIssues } from "../../../redaction/own-rules.ts";
import { privacyWarnings } from "../../../redaction/privacy-warnings.ts";
import { serveThread } from "../../../threads/serve.ts";
import { parseJson } from "../parse-json.ts";

serveThread({
  body: ({ buffer, byteOffset, byteLength }: Uint8Array) =>
    parseJson(Buffer.from(buffer, byteOffset, byteLength)),
  test: (input: unknown) => parseTestCase(input),
  draft: (input: unknown) => parseDraft(input),
  validate: ({ input, privacy }: { input: unknown; privacy: RedactionRules }) => {
    const document = parseTestCase(input);
    return {
      document,
      warnings: [
        ...wrapperNotices(input),
        ...testCaseWarnings(document),
        ...privacyWarnings(document, privacy),
      ],
    };
  },
  rules: (rules: Parameters<typeof ownRuleIssues>[0]) => ownRuleIssues(rules),
});
