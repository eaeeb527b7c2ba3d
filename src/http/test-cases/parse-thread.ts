// The thread that parses test cases with costly patterns or schemas.
import { parseDraft, parseTestCase } from "../../model/test-case/test-case.ts";
import { serveThread } from "../../threads/serve.ts";

serveThread({
  test: (input: unknown) => parseTestCase(input),
  draft: (input: unknown) => parseDraft(input),
});
