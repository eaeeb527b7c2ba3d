// Notice in the editor: the project has no judge, and this test needs one.
import { Link } from "@tanstack/react-router";
import { isRecord } from "../../record.ts";
import { Notice } from "../../ui/Notice.tsx";
import { useHasJudge } from "../judge-usage/NoJudge.tsx";
import { assertionsOf, type Doc } from "./document.ts";

export function NoJudgeNotice({ projectId, document }: { projectId: string; document: Doc }) {
  const hasJudge = useHasJudge(projectId);
  const effect = effectOfNoJudge(document);
  if (hasJudge || effect === undefined) return null;
  return (
    <Notice tone="info">
      <p>
        No judge is configured, so {effect.what}.{" "}
        <Link to="/projects/$projectId/settings/judge" params={{ projectId }}>
          Set up a judge
        </Link>
        {effect.orElse}.
      </p>
    </Notice>
  );
}

/** Undefined if the test needs no judge. */
function effectOfNoJudge(document: Doc): { what: string; orElse: string } | undefined {
  const behavior = document["passiveBehavior"] ?? "run_when_relevant";
  if (behavior === "run_when_relevant") {
    const what = "the scenario is never matched and this test gives no verdict";
    return { what, orElse: " or choose “Always run”" };
  }
  const assertions = assertionsOf(document);
  const semantic = assertions.filter(one => isRecord(one) && one["type"] === "semantic").length;
  if (semantic === 0) return undefined;
  const what = semantic < assertions.length ? "semantic checks are skipped" : "this test gives no verdict";
  return { what, orElse: "" };
}
