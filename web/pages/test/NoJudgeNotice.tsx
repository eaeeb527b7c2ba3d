// Notice in the editor: the project has no judge, and this test needs one. Its buttons are the ways out.
import { Link } from "@tanstack/react-router";
import { isRecord } from "../../record.ts";
import { Button } from "../../ui/Button.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { useHasJudge } from "../judge-usage/NoJudge.tsx";
import { assertionsOf, type Doc } from "./document.ts";

type NoticeProps = {
  projectId: string;
  document: Doc;
  /** What the judge would be asked about. */
  about: "scenario" | "checks";
  onAlwaysRun?: () => void;
};

export function NoJudgeNotice({ projectId, document, about, onAlwaysRun }: NoticeProps) {
  const hasJudge = useHasJudge(projectId);
  const effect = about === "scenario" ? effectOnScenario(document) : effectOnChecks(document);
  if (hasJudge || effect === undefined) return null;
  return (
    <Notice tone="info">
      <div className="stack-tight">
        <p>No judge is configured, so {effect}.</p>
        <div className="line">
          {onAlwaysRun && (
            <Button small onClick={onAlwaysRun}>
              Always run
            </Button>
          )}
          <Link
            to="/projects/$projectId/settings/judge"
            params={{ projectId }}
            className="button button-small"
          >
            Connect a judge
          </Link>
        </div>
      </div>
    </Notice>
  );
}

/** Undefined if the test is evaluated without a judge. */
function effectOnScenario({ passiveBehavior = "run_when_relevant" }: Doc): string | undefined {
  if (passiveBehavior !== "run_when_relevant") return undefined;
  return "the scenario is never matched and this test gives no verdict";
}

function effectOnChecks(document: Doc): string | undefined {
  const assertions = assertionsOf(document);
  const semantic = assertions.filter(one => isRecord(one) && one["type"] === "semantic").length;
  if (semantic === 0 || effectOnScenario(document)) return undefined;
  return semantic < assertions.length ? "semantic checks are skipped" : "this test gives no verdict";
}
