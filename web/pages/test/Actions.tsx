// The buttons and menu of a saved test case: run, results, activate or disable, duplicate, delete.
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import type { Failure } from "../../api.ts";
import { DeleteTest } from "../../forms/DeleteTests.tsx";
import { duplicateTest } from "../../forms/test-changes.ts";
import { useLaunch } from "../../forms/use-launch.tsx";
import { testQuery, testsQuery } from "../../queries/tests.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { FailureNotice } from "../../ui/Notice.tsx";
import { toast } from "../../ui/Toast.tsx";
import { usePageCheck } from "../../ui/use-page-check.ts";
import type { Save } from "./save.tsx";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/tests/$testId");

type ActionsProps = { stored: ListedTest; isDirty: boolean; save: Save };

export function Actions({ stored, isDirty, save }: ActionsProps) {
  const params = route.useParams();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const checkPage = usePageCheck();
  const launching = useLaunch(params);
  const [deleting, setDeleting] = useState(false);
  const [failed, setFailed] = useState<{ title: string; failure: Failure }>();
  const tests = `/projects/${params.projectId}/agents/${params.agentId}/tests`;
  const refresh = () => queries.invalidateQueries({ queryKey: testsQuery(params.agentId).queryKey });

  async function duplicate(): Promise<void> {
    const isStillHere = checkPage();
    const answer = await duplicateTest(params.agentId, stored);
    if (!answer.ok) return setFailed({ title: "Test case not duplicated", failure: answer.failure });
    toast(`Created “${answer.value.name}” (disabled)`);
    await refresh();
    if (isStillHere()) await navigate({ href: `${tests}/${answer.value.id}` });
  }

  async function setStatus(status: ListedTest["status"]): Promise<void> {
    const answer = await save.setStatus(status);
    if (!answer.ok) return setFailed({ title: "Status not changed", failure: answer.failure });
    queries.setQueryData(testQuery(stored.id).queryKey, answer.value);
    toast(status === "active" ? "Test case activated" : "Test case disabled");
    await refresh();
  }

  const isActive = stored.status === "active";
  return (
    <>
      {launching.dialog}
      <Button icon="play" busy={launching.busy} onClick={() => void launching.launch([stored.id])}>
        {isDirty ? "Run saved version" : "Run now"}
      </Button>
      <Link
        to="/projects/$projectId/agents/$agentId/tests/$testId/results"
        params={{ ...params, testId: stored.id }}
        className="button"
      >
        Results
      </Link>
      <Menu
        entries={[
          {
            kind: "action",
            icon: isActive ? "none" : "check",
            label: isActive ? "Disable" : "Activate",
            onChoose: () => void setStatus(isActive ? "disabled" : "active"),
          },
          {
            kind: "action",
            icon: "copy",
            label: isDirty ? "Duplicate saved version" : "Duplicate",
            onChoose: () => void duplicate(),
          },
          { kind: "rule" },
          { kind: "action", icon: "trash", label: "Delete…", onChoose: () => setDeleting(true) },
        ]}
      >
        More
      </Menu>
      {failed && (
        <Dialog title={failed.title} onClose={() => setFailed(undefined)}>
          <FailureNotice failure={failed.failure} />
        </Dialog>
      )}
      {deleting && (
        <DeleteTest
          test={stored}
          onClose={() => setDeleting(false)}
          onDone={async () => {
            toast(`“${stored.name}” deleted`);
            await refresh();
            await navigate({ href: tests, replace: true, ignoreBlocker: true });
          }}
        />
      )}
    </>
  );
}
