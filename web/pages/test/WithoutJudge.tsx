// What no judge means for this test: told in place, before anybody waits for a verdict that cannot come.
import { useQuery } from "@tanstack/react-query";
import { judgeQuery } from "../../queries/judge.ts";
import { Notice } from "../../ui/Notice.tsx";
import { assertionsOf, type Doc, isRecord } from "./document.ts";

export function WithoutJudge({ document }: { document: Doc }) {
  const { data: judge } = useQuery(judgeQuery);
  if (!judge || judge.configured) return null;
  const assertions = assertionsOf(document);
  const semantic = assertions.filter(one => isRecord(one) && one["type"] === "semantic").length;
  const isRouted = (document["passiveBehavior"] ?? "run_when_relevant") === "run_when_relevant";
  if (!isRouted && semantic === 0) return null;
  return (
    <Notice tone="warn">
      {isRouted ? (
        <p>
          There is no judge to compare conversations with the scenario, so this test never gives a verdict on
          one. Choose “Always run”, or configure a judge.
        </p>
      ) : (
        <p>
          There is no judge, so{" "}
          {semantic === assertions.length ? "this test gives no verdict" : "semantic checks are skipped"}.
          Configure a judge to have {semantic === 1 ? "it" : "them"} judged.
        </p>
      )}
    </Notice>
  );
}
