// What judging an agent has taken: tokens and money by day, and shared among its test cases.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { JudgeUsage } from "../../../src/http/judge/schemas.ts";
import { dayText, numberText } from "../../format.ts";
import { costText } from "../../money.ts";
import { judgingQuery } from "../../queries/judging-use.ts";
import "../../styles/judge.css";
import { Notice } from "../../ui/Notice.tsx";
import { Page } from "../../ui/Page.tsx";
import { EmptyState, Loaded } from "../../ui/State.tsx";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/judging");

const ranges = { "7": "7 days", "30": "30 days", "90": "90 days" } as const;
type Range = keyof typeof ranges;

export function JudgingPage() {
  const { projectId, agentId } = route.useParams();
  const search = route.useSearch();
  const range: Range = search.days !== undefined && search.days in ranges ? (search.days as Range) : "30";
  const judging = useQuery(judgingQuery(agentId, Number(range)));
  return (
    <Page title="JudgeUsage" about="What the judge of this agent has taken, by day of UTC and by test case.">
      <nav className="tabs" aria-label="Time">
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
      <Loaded query={judging}>
        {data =>
          data.days.length === 0 ? (
            <EmptyState icon="model" title="Nothing was judged by a model in this time">
              <p className="quiet">
                Semantic checks and the scenarios of tests that run when relevant need one.
              </p>
              <Link to="/projects/$projectId/settings/judge" params={{ projectId }} className="button">
                See the judge
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
  const sum = (name: "calls" | "cached" | "inputTokens" | "outputTokens" | "costUsd" | "unpricedTokens") =>
    days.reduce((total, day) => total + day[name], 0);
  const unpricedTokens = sum("unpricedTokens");
  const used = { inputTokens: sum("inputTokens"), outputTokens: sum("outputTokens") };
  return (
    <>
      <dl className="facts">
        <dt>Cost</dt>
        <dd>{costText({ ...used, costUsd: sum("costUsd"), unpricedTokens }) ?? "Price not known"}</dd>
        <dt>Tokens</dt>
        <dd>
          {numberText(used.inputTokens)} in, {numberText(used.outputTokens)} out
        </dd>
        <dt>Calls</dt>
        <dd>
          {numberText(sum("calls"))}
          <span className="quiet">{numberText(sum("cached"))} questions answered without one</span>
        </dd>
      </dl>
      {unpricedTokens > 0 && (
        <Notice tone="info">
          <p>
            {numberText(Math.round(unpricedTokens))} tokens are of models whose price is not known: the money
            leaves them out.{" "}
            <Link to="/projects/$projectId/settings/prices" params={{ projectId }}>
              Add their prices
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
          <caption className="unseen">JudgeUsage by day</caption>
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              <th scope="col" className="number">
                Calls
              </th>
              <th scope="col" className="number">
                Without a call
              </th>
              <UseHeadings />
            </tr>
          </thead>
          <tbody>
            {data.days.toReversed().map(day => (
              <tr key={day.day}>
                <th scope="row">{dayText(day.day)}</th>
                <td className="number" data-label="Calls">
                  {numberText(day.calls)}
                </td>
                <td className="number" data-label="Without a call">
                  {numberText(day.cached)}
                </td>
                <Use use={day} />
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
        A call that asked about several test cases is shared among them by their parts of its questions.
      </p>
      <div className="table-wrap">
        <table className="table">
          <caption className="unseen">JudgeUsage by test case</caption>
          <thead>
            <tr>
              <th scope="col">Test case</th>
              <UseHeadings />
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
                <Use use={test} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

type Used = JudgeUsage["tests"][number] | JudgeUsage["days"][number];

function UseHeadings() {
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

function Use({ use }: { use: Used }) {
  const cost = costText(use);
  return (
    <>
      <td className="number" data-label="Tokens in">
        {numberText(Math.round(use.inputTokens))}
      </td>
      <td className="number" data-label="Tokens out">
        {numberText(Math.round(use.outputTokens))}
      </td>
      <td className="number" data-label="Cost">
        {cost ? (
          <span>
            {cost}
            {use.unpricedTokens > 0 && <span className="quiet"> and more</span>}
          </span>
        ) : (
          <span className="quiet">Price not known</span>
        )}
      </td>
    </>
  );
}
