// The test runs of one test case, newest first, in every state.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useLaunch } from "../../forms/use-launch.tsx";
import { allManualRunsQuery } from "../../queries/launches.ts";
import { Button } from "../../ui/Button.tsx";
import { EmptyState, Loaded, MorePages } from "../../ui/State.tsx";
import { RunTable } from "../runs/RunTable.tsx";
import "../../styles/runs.css";

type ManualResultsProps = { params: { projectId: string; agentId: string; testId: string } };

export function ManualResults({ params }: ManualResultsProps) {
  const { testId } = params;
  const runs = useInfiniteQuery(allManualRunsQuery(testId));
  const { launch, busy, dialog } = useLaunch(params);
  return (
    <>
      {dialog}
      <Loaded query={runs}>
        {items =>
          items.length > 0 ? (
            <RunTable runs={items} params={params} by="time" />
          ) : (
            <EmptyState icon="play" title="No test runs yet">
              <p className="quiet">
                A test run sends the test’s messages to the agent and evaluates the replies.
              </p>
              <Button look="main" icon="play" busy={busy} onClick={() => void launch([testId])}>
                Run now
              </Button>
            </EmptyState>
          )
        }
      </Loaded>
      <MorePages query={runs} />
    </>
  );
}
