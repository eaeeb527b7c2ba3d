// Says once, and calmly, that nothing judges what needs a language model, and leads to where that is changed.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import { projectJudgeQuery } from "../../queries/project-judge.ts";
import { testsQuery } from "../../queries/tests.ts";
import { Icon } from "../../ui/Icon.tsx";

type Params = { projectId: string; agentId: string };

/** Nothing while that is not known, where there is a judge, and where none of the agent's tests needs one. */
export function NoJudge({ projectId, agentId }: Params) {
  const { data: tests } = useInfiniteQuery(testsQuery(agentId));
  const hasJudge = useHasJudge(projectId);
  const active = tests?.filter(({ eligibility }) => eligibility === null) ?? [];
  const lost = [
    active.some(isRouted) && "tests that run when relevant are not judged",
    active.some(isSemantic) && "semantic checks are skipped",
  ].filter(Boolean);
  if (hasJudge || lost.length === 0) return null;
  return <NoJudgeLine projectId={projectId} lost={lost.join(", and ")} />;
}

/** The same before there is a test. */
export function NoJudgeYet({ projectId }: { projectId: string }) {
  if (useHasJudge(projectId)) return null;
  return <NoJudgeLine projectId={projectId} lost="tests that run when relevant are not judged" />;
}

function NoJudgeLine({ projectId, lost }: { projectId: string; lost: string }) {
  return (
    <p className="no-judge quiet">
      <Icon name="info" />
      <span>
        No judge: {lost}.{" "}
        <Link to="/projects/$projectId/settings/judge" params={{ projectId }}>
          Add one
        </Link>
      </span>
    </p>
  );
}

/** True until it is known otherwise: no word about it is better than a wrong one. */
export function useHasJudge(projectId: string): boolean {
  const { data } = useQuery({ ...projectJudgeQuery(projectId), staleTime: 60_000 });
  return data?.source !== null;
}

function isRouted({ passiveBehavior, scenario }: ListedTest): boolean {
  return passiveBehavior === "run_when_relevant" && Boolean(scenario?.trim());
}

function isSemantic({ assertions }: ListedTest): boolean {
  return assertions.some(({ type }) => type === "semantic");
}
