// One quiet line on a project without a judge: what is not evaluated, and a link to set up a judge.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import { projectJudgeQuery } from "../../queries/project-judge.ts";
import { testsQuery } from "../../queries/tests.ts";
import { Icon } from "../../ui/Icon.tsx";

type Params = { projectId: string; agentId: string };

/** Nothing until it is known that the project has no judge, and nothing when no active test needs one. */
export function NoJudge({ projectId, agentId }: Params) {
  const { data: tests } = useInfiniteQuery(testsQuery(agentId));
  const hasJudge = useHasJudge(projectId);
  const active = tests?.filter(({ eligibility }) => eligibility === null) ?? [];
  const skipped = [
    active.some(isConditional) && conditionalText,
    active.some(isSemantic) && "semantic checks are skipped",
  ].filter(Boolean);
  if (hasJudge || skipped.length === 0) return null;
  return <NoJudgeLine projectId={projectId} skipped={skipped.join(", and ")} />;
}

const conditionalText = "“Run when relevant” tests are not evaluated";

/** For an agent that has no tests yet. */
export function NoJudgeYet({ projectId }: { projectId: string }) {
  if (useHasJudge(projectId)) return null;
  return <NoJudgeLine projectId={projectId} skipped={conditionalText} />;
}

function NoJudgeLine({ projectId, skipped }: { projectId: string; skipped: string }) {
  return (
    <p className="no-judge quiet">
      <Icon name="info" />
      <span>
        No judge: {skipped}.{" "}
        <Link to="/projects/$projectId/settings/judge" params={{ projectId }}>
          Set up a judge
        </Link>
      </span>
    </p>
  );
}

/** True while loading, so that no page wrongly says that there is no judge. */
export function useHasJudge(projectId: string): boolean {
  const { data } = useQuery({ ...projectJudgeQuery(projectId), staleTime: 60_000 });
  return data?.source !== null;
}

function isConditional({ passiveBehavior, scenario }: ListedTest): boolean {
  return passiveBehavior === "run_when_relevant" && Boolean(scenario?.trim());
}

function isSemantic({ assertions }: ListedTest): boolean {
  return assertions.some(({ type }) => type === "semantic");
}
