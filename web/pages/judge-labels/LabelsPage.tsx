// How often the judge agrees with people's labels: by judge, by test case, by kind of answer, and the answers to look at.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { JudgeAgreement } from "../../../src/http/judge/label-schemas.ts";
import { agreementQuery, type LabelScope, labelsQuery } from "../../queries/labels.ts";
import "../../styles/judge.css";
import { EmptyState, Loaded, MorePages } from "../../ui/State.tsx";
import { ProjectFrame } from "../project/ProjectFrame.tsx";
import { agreementText } from "./agreement.ts";
import { Confusion } from "./Confusion.tsx";
import { Disagreements } from "./Disagreements.tsx";
import { ExportLabels } from "./ExportLabels.tsx";
import { JudgeTable, TestTable } from "./Tables.tsx";
import { TryJudge } from "./TryJudge.tsx";

const route = getRouteApi("/member/projects/$projectId/settings/labels");

export function LabelsPage() {
  const { projectId } = route.useParams();
  const { test: testId } = route.useSearch();
  const scope: LabelScope = { projectId, ...(testId !== undefined && { testId }) };
  const agreement = useQuery(agreementQuery(scope));
  return (
    <ProjectFrame part="Labels">
      <p className="quiet">
        On an evaluated trace or a test run, say whether the judge was right about a semantic check or a
        scenario match. This page shows how often the judge agrees with people.
      </p>
      <Loaded query={agreement}>{data => <Content key={testId ?? ""} data={data} scope={scope} />}</Loaded>
    </ProjectFrame>
  );
}

function Content({ data, scope }: { data: JudgeAgreement; scope: LabelScope }) {
  const { projectId, testId } = scope;
  const all = testId !== undefined && (
    <Link to="/projects/$projectId/settings/labels" params={{ projectId }} className="button">
      All test cases
    </Link>
  );
  const labels = data.labels + data.undecided;
  if (labels === 0) {
    return (
      <EmptyState
        icon="assert"
        title={testId === undefined ? "No labels yet" : "No labels for this test case"}
      >
        <p className="quiet">
          Open an evaluated trace or a test run, and click Right or Wrong below a judged check.
        </p>
        {all}
      </EmptyState>
    );
  }
  const name = testId === undefined ? undefined : data.tests[0]?.name;
  return (
    <div className="stack labels">
      <div className="line line-apart">
        <h2>{name === undefined ? "All test cases" : <bdi>{name}</bdi>}</h2>
        <div className="line">
          {all}
          <ExportLabels scope={scope} />
        </div>
      </div>
      <p>
        <strong>{agreementText(data)}</strong>
      </p>
      <Confusion counts={data.confusion} />
      <JudgeTable judges={data.judges} />
      {testId === undefined && <TestTable tests={data.tests} projectId={projectId} />}
      <Wrong scope={scope} isNone={data.agreed === data.labels} />
      <TryJudge scope={scope} labels={labels} />
    </div>
  );
}

function Wrong({ scope, isNone }: { scope: LabelScope; isNone: boolean }) {
  const labels = useInfiniteQuery({ ...labelsQuery(scope, true), enabled: !isNone });
  return (
    <section className="stack-tight" aria-labelledby="labels-wrong">
      <h2 id="labels-wrong">Look at these first</h2>
      {isNone ? (
        <p className="quiet">The judge’s decisions agree with every label.</p>
      ) : (
        <Loaded query={labels}>
          {items => <Disagreements labels={items} projectId={scope.projectId} />}
        </Loaded>
      )}
      <MorePages query={labels} />
    </section>
  );
}
