// Whether a test case that is about to be saved was changed by someone else since it was read.
import type { TestCaseDocument } from "../../../src/model/test-case/document.ts";
import { isSameJson } from "../../same-json.ts";
import type { Doc } from "./document.ts";

/**
 * `saved`: it is what is about to be saved, because the answer to an earlier attempt was lost, or someone else made the
 * same change.
 */
export function changeSince(
  read: TestCaseDocument,
  now: TestCaseDocument,
  document: Doc,
): "unchanged" | "saved" | "conflict" {
  if (isSameJson(now, read)) return "unchanged";
  return isSameJson(now, document) ? "saved" : "conflict";
}
