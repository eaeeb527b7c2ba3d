// How often the judge agrees with people's labels, for checks and scenario matches apart, and the answers to look at.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { JudgeAgreement } from "../../../src/http/judge/agreement-schemas.ts";
import type { Agreement } from "../../../src/model/judge/label.ts";
import { agreementQuery, type LabelScope, labelsQuery } from "../../queries/labels.ts";
import "../../styles/judge.css";
import { EmptyState, Loaded, MorePages } from "../../ui/State.tsx";
import { ProjectFrame } from "../project/ProjectFrame.tsx";
import {
  agreementText,
  checkErrors,
  disputedText,
  type Errors,
  scenarioErrors,
  shareText,
} from "./agreement.ts";
import { Confusion } from "./Confusion.tsx";
import { Disagreements } from "./Disagreements.tsx";
import { ExportLabels } from "./ExportLabels.tsx";
import { AgreementTable, judgeRow, type Row, testRow } from "./Tables.tsx";
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
  const { checks, scenarios } = data;
  const kinds = [checks, scenarios];
  const labels = kinds.reduce((sum, { labels, undecided }) => sum + labels + undecided, 0);
  const disputed = checks.disputed + scenarios.disputed;
  if (labels + disputed === 0) {
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
  const name = testId === undefined ? undefined : (checks.tests[0] ?? scenarios.tests[0])?.name;
  return (
    <div className="stack labels">
      <div className="line line-apart">
        <h2>{name === undefined ? "All test cases" : <bdi>{name}</bdi>}</h2>
        <div className="line">
          {all}
          <ExportLabels scope={scope} />
        </div>
      </div>
      {isLabeled(checks) && (
        <Kind
          title="Semantic checks"
          of={checks}
          errors={checkErrors(checks)}
          judges={checks.judges.map(judge => judgeRow(judge, checkErrors(judge)))}
          tests={checks.tests.map(test => testRow(test, checkErrors(test), projectId))}
        />
      )}
      {isLabeled(scenarios) && (
        <Kind
          title="Scenario matches"
          of={scenarios}
          errors={scenarioErrors(scenarios)}
          judges={scenarios.judges.map(judge => judgeRow(judge, scenarioErrors(judge)))}
          tests={scenarios.tests.map(test => testRow(test, scenarioErrors(test), projectId))}
        />
      )}
      {disputed > 0 && <Disputed scope={scope} disputed={disputed} />}
      <Wrong
        scope={scope}
        isNone={disputed === 0 && kinds.every(({ agreed, labels }) => agreed === labels)}
      />
      <TryJudge scope={scope} labels={labels} />
    </div>
  );
}

function isLabeled({ labels, undecided, disputed }: Agreement): boolean {
  return labels + undecided + disputed > 0;
}

type KindProps = { title: string; of: Agreement; errors: Errors; judges: Row[]; tests: Row[] };

function Kind({ title, of, errors, judges, tests }: KindProps) {
  return (
    <section className="stack" aria-label={title}>
      <h2>{title}</h2>
      <div className="stack-tight">
        <p>
          <strong>{agreementText(of)}</strong>
        </p>
        {errors
          .filter(({ share }) => share.of > 0)
          .map(({ title, should, share }) => (
            <p key={title}>
              {title}: {shareText(share)} {should}.
            </p>
          ))}
      </div>
      <Confusion title={title} counts={of.confusion} />
      <AgreementTable caption={`${title} by judge`} heading="Judge" rows={judges} />
      <AgreementTable caption={`${title} by test case`} heading="Test case" rows={tests} />
    </section>
  );
}

function Disputed({ scope, disputed }: { scope: LabelScope; disputed: number }) {
  const labels = useInfiniteQuery(labelsQuery(scope, "disputed"));
  return (
    <section className="stack-tight" aria-labelledby="labels-disputed">
      <h2 id="labels-disputed">People disagree</h2>
      <p className="quiet">{disputedText({ disputed })}</p>
      <Loaded query={labels}>
        {items => (
          <Disagreements
            labels={items}
            projectId={scope.projectId}
            name="Answers that people label differently"
          />
        )}
      </Loaded>
      <MorePages query={labels} />
    </section>
  );
}

function Wrong({ scope, isNone }: { scope: LabelScope; isNone: boolean }) {
  const labels = useInfiniteQuery({ ...labelsQuery(scope, "wrong"), enabled: !isNone });
  return (
    <section className="stack-tight" aria-labelledby="labels-wrong">
      <h2 id="labels-wrong">Look at these first</h2>
      {isNone ? (
        <p className="quiet">The judge’s decisions agree with every label.</p>
      ) : (
        <Loaded query={labels}>
          {items => (
            <Disagreements labels={items} projectId={scope.projectId} name="Answers that people call wrong" />
          )}
        </Loaded>
      )}
      <MorePages query={labels} />
    </section>
  );
}
