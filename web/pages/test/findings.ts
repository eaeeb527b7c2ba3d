// What the service says about the document as typed, and the names that fields complete.
import { useQuery } from "@tanstack/react-query";
import { type KnownRestsOn, restsOnQuery, validateQuery, vocabularyQuery } from "../../queries/editor.ts";
import { currentIssues } from "./current-issues.ts";
import { useDebounced, useSame } from "./debounced.ts";
import { criteriaLeftToJudge, type Doc } from "./document.ts";

const noneKnown: KnownRestsOn = new Map();

export function useFindings(agentId: string, document: Doc) {
  const { data: validated } = useQuery(validateQuery(agentId, useDebounced(document)));
  const criteria = useSame(criteriaLeftToJudge(document));
  const { data: restsOn = noneKnown } = useQuery(restsOnQuery(agentId, useDebounced(criteria)));
  const { data: vocabulary } = useQuery(vocabularyQuery(agentId));
  const issues = useSame(validated && !validated.valid ? currentIssues(validated, document) : []);
  const warnings = useSame(validated?.valid ? validated.warnings : []);
  return { validated, issues, warnings, restsOn, vocabulary };
}
