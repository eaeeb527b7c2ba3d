// What no judge means for this test: told in place, before anybody waits for a verdict that cannot come.
import { Link } from "@tanstack/react-router";
import { Notice } from "../../ui/Notice.tsx";
import { useHasJudge } from "../judging/NoJudge.tsx";
import { assertionsOf, type Doc, isRecord } from "./document.ts";

export function WithoutJudge({ projectId, document }: { projectId: string; document: Doc }) {
  const hasJudge = useHasJudge(projectId);
  const lost = lostOf(document);
  if (hasJudge || lost === undefined) return null;
  return (
    <Notice tone="info">
      <p>
        No judge: {lost.what}.{" "}
        <Link to="/projects/$projectId/settings/judge" params={{ projectId }}>
          Add one
        </Link>
        {lost.orElse}.
      </p>
    </Notice>
  );
}

/** Undefined where the test needs no judge. */
function lostOf(document: Doc): { what: string; orElse: string } | undefined {
  const behavior = document["passiveBehavior"] ?? "run_when_relevant";
  if (behavior === "run_when_relevant") {
    const what =
      "nothing compares conversations with the scenario, so this test never gives a verdict on one";
    return { what, orElse: ", or choose “Always run”" };
  }
  const assertions = assertionsOf(document);
  const semantic = assertions.filter(one => isRecord(one) && one["type"] === "semantic").length;
  if (semantic === 0) return undefined;
  const what = semantic < assertions.length ? "semantic checks are skipped" : "this test gives no verdict";
  return { what, orElse: "" };
}
