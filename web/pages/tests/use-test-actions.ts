// The actions on the test cases of a list: open, duplicate, activate, run, export and delete, with errors per test.

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import type { TestCaseDocument } from "../../../src/model/test-case/document.ts";
import {
  type BulkFailure,
  duplicateTest,
  exportTests,
  type Problem,
  problemOf,
  switchTests,
} from "../../forms/test-changes.ts";
import { counted } from "../../labels.ts";
import { testsQuery } from "../../queries/tests.ts";
import { toast } from "../../ui/Toast.tsx";
import type { TestActions } from "./TestRow.tsx";

type Handlers = {
  onRun: (testIds: string[]) => void;
  /** Asks for confirmation first. */
  onDelete: (tests: readonly ListedTest[]) => void;
};

export function useTestActions(params: TestActions["params"], { onRun, onDelete }: Handlers) {
  const { agentId } = params;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [failure, setFailure] = useState<BulkFailure>();
  const refetch = () => queries.invalidateQueries({ queryKey: testsQuery(agentId).queryKey });
  const report = (what: string, problems: Problem[]) =>
    setFailure(problems.length > 0 ? { what, problems } : undefined);

  const setStatus = async (tests: readonly ListedTest[], status: TestCaseDocument["status"]) => {
    const word = status === "active" ? "activated" : "disabled";
    const problems = await switchTests(agentId, tests, status);
    report(tests.length === 1 ? `Not ${word}` : `Not ${word}, nor any other selected test`, problems);
    if (problems.length === 0) toast(`${namesOf(tests)} ${word}`);
    await refetch();
  };
  const duplicate = async (test: ListedTest) => {
    const answer = await duplicateTest(agentId, test);
    report("Not duplicated", answer.ok ? [] : [problemOf(test, answer.failure)]);
    if (answer.ok) toast(`Created “${answer.value.name}” (disabled)`);
    await refetch();
  };
  const reportDeleted = async (tests: readonly ListedTest[], problems: Problem[]) => {
    report("Not deleted", problems);
    const gone = tests.filter(({ id }) => !problems.some(({ testId }) => testId === id));
    if (gone.length > 0) toast(`${namesOf(gone)} deleted`);
    await refetch();
  };
  const edit = (testId: string, search: { template?: string; trace?: string } = {}) =>
    void navigate({
      to: "/projects/$projectId/agents/$agentId/tests/$testId",
      params: { ...params, testId },
      search,
    });
  const actions: TestActions = {
    params,
    edit: ({ id }) => edit(id),
    results: ({ id }) =>
      void navigate({
        to: "/projects/$projectId/agents/$agentId/tests/$testId/results",
        params: { ...params, testId: id },
      }),
    duplicate: test => void duplicate(test),
    setStatus,
    run: tests => onRun(tests.map(({ id }) => id)),
    exportAll: exportTests,
    remove: onDelete,
  };
  return {
    actions,
    create: (search: { template?: string; trace?: string }) => edit("new", search),
    refetch,
    reportDeleted,
    failure,
    dismiss: () => setFailure(undefined),
  };
}

/** The subject of a sentence: the name of one test, or the number of several. */
function namesOf(tests: readonly ListedTest[]): string {
  return tests.length === 1 ? `“${tests[0]!.name}”` : counted(tests.length, "test");
}
