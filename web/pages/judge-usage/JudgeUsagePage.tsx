// Judge usage of an agent: calls, tokens and cost by day and by test case.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { JudgeUsage } from "../../../src/http/judge/schemas.ts";
import { dayText, numberText } from "../../format.ts";
import { costText } from "../../money.ts";
import { judgeUsageQuery } from "../../queries/judge-usage.ts";
import { projectJudgeQuery } from "../../queries/project-judge.ts";
import "../../styles/judge.css";
import { EstimatedNotice } from "../../ui/EstimatedNotice.tsx";
import { LowCountNotice } from "../../ui/LowCountNotice.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Page } from "../../ui/Page.tsx";
import { EmptyState, Loaded } from "../../ui/State.tsx";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/judging");

const ranges = { "7": "7 days", "30": "30 days", "90": "90 days" } as const;
type Range = keyof typeof ranges;

export function JudgeUsagePage() {
  const { projectId, agentId } = route.useParams();
  const search = route.useSearch();
  const range: Range = search.days !== undefined && search.days in ranges ? (search.days as Range) : "30";
  const usage = useQuery(judgeUsageQuery(agentId, Number(range)));
  return (
    <Page title="Judge usage" about="Judge usage of this agent, by day (UTC) and by test case.">
      <nav className="tabs" aria-label="Time range">
        {(Object.keys(ranges) as Range[]).map(days => (
          <Link
            key={days}
            to="."
            search={{ days: days === "30" ? undefined : days }}
            className="tab"
            activeProps={{}}
            aria-current={days === range ? "page" : undefined}
          >
            Last {ranges[days]}
          </Link>
        ))}
      </nav>
      <Loaded query={usage}>
        {data =>
          data.days.length === 0 ? (
            <EmptyState icon="model" title="The judge was not used in this period">
              <p className="quiet">Semantic checks and scenario matching use the judge.</p>
              <Link to="/projects/$projectId/settings/judge" params={{ projectId }} className="button">
                Open judge settings
              </Link>
            </EmptyState>
          ) : (
            <div className="stack judging">
              <Sum data={data} projectId={projectId} />
              <Days data={data} />
              <Tests data={data} params={{ projectId, agentId }} />
            </div>
          )
        }
      </Loaded>
      <p className="small judge-end">
        <Link to="/projects/$projectId/agents/$agentId/settings" params={{ projectId, agentId }}>
          Sampling and daily budget
        </Link>
      </p>
    </Page>
  );
}

function Sum({ data: { days }, projectId }: { data: JudgeUsage; projectId: string }) {
  const sum = (name: Exclude<keyof JudgeUsage["days"][number], "day">) =>
    days.reduce((total, day) => total + day[name], 0);
  const judge = useQuery(projectJudgeQuery(projectId));
  const unpricedTokens = sum("unpricedTokens");
  const estimatedTokens = sum("estimatedTokens");
  const used = { inputTokens: sum("inputTokens"), outputTokens: sum("outputTokens") };
  return (
    <>
      <dl className="facts">
        <dt>Cost</dt>
        <dd>{costText({ ...used, costUsd: sum("costUsd"), unpricedTokens }) ?? "No known price"}</dd>
        <dt>Tokens</dt>
        <dd>
          {numberText(used.inputTokens)} in, {numberText(used.outputTokens)} out
        </dd>
        <dt>Calls</dt>
        <dd>
          {numberText(sum("calls"))}
          <span className="quiet">plus {numberText(sum("cached"))} cached answers</span>
        </dd>
      </dl>
      <LowCountNotice lowCount={judge.data?.lowCount ?? null} />
      {estimatedTokens > 0 && <EstimatedNotice tokens={estimatedTokens} />}
      {unpricedTokens > 0 && (
        <Notice tone="info">
          <p>
            {numberText(Math.round(unpricedTokens))} tokens have no known price and are not included in the
            cost.{" "}
            <Link to="/projects/$projectId/settings/prices" params={{ projectId }}>
              Add prices
            </Link>
          </p>
        </Notice>
      )}
    </>
  );
}

function Days({ data }: { data: JudgeUsage }) {
  return (
    <section className="stack-tight" aria-labelledby="judging-days">
      <h2 id="judging-days">By day</h2>
      <div className="table-wrap">
        <table className="table">
          <caption className="unseen">Judge usage by day</caption>
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              <th scope="col" className="number">
                Calls
              </th>
              <th scope="col" className="number">
                Cached answers
              </th>
              <UsageHeadings />
            </tr>
          </thead>
          <tbody>
            {data.days.toReversed().map(day => (
              <tr key={day.day}>
                <th scope="row">{dayText(day.day)}</th>
                <td className="number" data-label="Calls">
                  {numberText(day.calls)}
                </td>
                <td className="number" data-label="Cached answers">
                  {numberText(day.cached)}
                </td>
                <UsageCells usage={day} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

type Params = { projectId: string; agentId: string };

function Tests({ data, params }: { data: JudgeUsage; params: Params }) {
  if (data.tests.length === 0) return null;
  return (
    <section className="stack-tight" aria-labelledby="judging-tests">
      <h2 id="judging-tests">By test case</h2>
      <p className="quiet small">
        A call for several test cases is split among them by their share of its questions.
      </p>
      <div className="table-wrap">
        <table className="table">
          <caption className="unseen">Judge usage by test case</caption>
          <thead>
            <tr>
              <th scope="col">Test case</th>
              <UsageHeadings />
            </tr>
          </thead>
          <tbody>
            {data.tests.map(test => (
              <tr key={test.testId}>
                <th scope="row">
                  <Link
                    to="/projects/$projectId/agents/$agentId/tests/$testId"
                    params={{ ...params, testId: test.testId }}
                  >
                    <bdi>{test.name}</bdi>
                  </Link>
                </th>
                <UsageCells usage={test} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

type Usage = JudgeUsage["tests"][number] | JudgeUsage["days"][number];

function UsageHeadings() {
  return (
    <>
      {["Tokens in", "Tokens out", "Cost"].map(heading => (
        <th key={heading} scope="col" className="number">
          {heading}
        </th>
      ))}
    </>
  );
}

function UsageCells({ usage }: { usage: Usage }) {
  const cost = costText(usage);
  const { estimatedTokens, inputTokens, outputTokens } = usage;
  // A test's share of the tokens of a call is a fraction.
  const isAll = inputTokens + outputTokens - estimatedTokens < 0.5;
  const estimated = estimatedTokens > 0 && (isAll ? "estimated" : "partly estimated");
  return (
    <>
      <td className="number" data-label="Tokens in">
        <span>
          {numberText(Math.round(usage.inputTokens))}
          {estimated && <span className="quiet"> ({estimated})</span>}
        </span>
      </td>
      <td className="number" data-label="Tokens out">
        <span>
          {numberText(Math.round(usage.outputTokens))}
          {estimated && <span className="quiet"> ({estimated})</span>}
        </span>
      </td>
      <td className="number" data-label="Cost">
        {cost ? (
          <span>
            {cost}
            {usage.unpricedTokens > 0 && <span className="quiet"> + unpriced tokens</span>}
          </span>
        ) : (
          <span className="quiet">No known price</span>
        )}
      </td>
    </>
  );
}
