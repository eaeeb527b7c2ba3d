// What the service says about the document as typed, and the names that fields complete.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  type KnownRestsOn,
  restsOnQuery,
  type Validated,
  validateQuery,
  vocabularyQuery,
} from "../../queries/editor.ts";
import { currentIssues } from "./current-issues.ts";
import { useDebounced, useSame } from "./debounced.ts";
import { criteriaLeftToJudge, type Doc } from "./document.ts";

const noneKnown: KnownRestsOn = new Map();

/** `isUntouched`: a blank test, which cannot be saved; the service is not asked about it. */
export function useFindings(agentId: string, document: Doc, isUntouched: boolean) {
  const asked = useDebounced(isUntouched ? undefined : document);
  const { data } = useQuery({
    ...validateQuery(agentId, asked ?? document),
    enabled: asked !== undefined,
  });
  const [first] = useState<Validated | undefined>(
    isUntouched ? { of: document, valid: false, issues: [] } : undefined,
  );
  const validated = data ?? first;
  const criteria = useSame(criteriaLeftToJudge(document));
  const { data: restsOn = noneKnown } = useQuery(restsOnQuery(agentId, useDebounced(criteria)));
  const { data: vocabulary } = useQuery(vocabularyQuery(agentId));
  const issues = useSame(validated && !validated.valid ? currentIssues(validated, document) : []);
  const warnings = useSame(validated?.valid ? validated.warnings : []);
  return { validated, issues, warnings, restsOn, vocabulary };
}
