// What an agent's evaluated traces used and cost over time, by model.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { ModelInsights, ModelTally } from "../../../src/http/projects/model-insights-schemas.ts";
import { numberText, shortText } from "../../format.ts";
import { moneyText } from "../../money.ts";
import { modelInsightsQuery } from "../../queries/insights.ts";
import { useFollow } from "../../shell/follow.ts";
import { Notice } from "../../ui/Notice.tsx";
import { EmptyState, Loaded } from "../../ui/State.tsx";
import { type Column, type Frame, Plot } from "./Plot.tsx";
import { Patterns } from "./Swatch.tsx";
import { Figure } from "./Totals.tsx";
import { rangeText } from "./utc-times.ts";
import { askOf, type CountedUrl, countedUrl, type View } from "./view.ts";

type Params = { projectId: string; agentId: string };
type Series = ModelInsights["series"][number];

export function ModelResults({ view, params }: { view: View; params: Params }) {
  const insights = useQuery(modelInsightsQuery(params.agentId, askOf(view)));
  return <Loaded query={insights}>{data => <Results insights={data} view={view} params={params} />}</Loaded>;
}

function Results({ insights, view, params }: { insights: ModelInsights; view: View; params: Params }) {
  const { from, to, interval, series, total } = insights;
  const urlOf = useMemo(() => countedUrl(params, { from, to, interval }), [params, from, to, interval]);
  return (
    <>
      <p className="quiet small">
        {rangeText(Date.parse(from), Date.parse(to), interval)} UTC,{" "}
        {interval === "hour" ? "hourly" : "daily"}. Shows evaluated traces, at the prices of each day.
      </p>
      {series.length === 0 ? (
        <EmptyState icon="none" title="No model calls in this period">
          <p className="quiet">
            Tokens appear here once traces with token counts are evaluated. Try a longer period.
          </p>
        </EmptyState>
      ) : (
        <>
          <Totals total={total} />
          <Unpriced series={series} projectId={params.projectId} />
          <Patterns />
          {view.form === "chart" && <Charts insights={insights} urlOf={urlOf} />}
          <ModelTable series={series} params={params} urlOf={urlOf} />
        </>
      )}
    </>
  );
}

/** A cost that leaves out most of the tokens would pass for the whole. */
function costOf({ costUsd, unpricedTokens, unmeasuredCalls, tokens }: ModelTally): string {
  if (unpricedTokens === tokens.input + tokens.output) return "–";
  return unpricedTokens + unmeasuredCalls > 0 ? `≥ ${moneyText(costUsd)}` : moneyText(costUsd);
}

function Totals({ total }: { total: ModelTally }) {
  const { tokens, unpricedTokens, calls } = total;
  return (
    <dl className="totals">
      <Figure
        word="Cost"
        {...(unpricedTokens > 0 && { note: `without ${shortText(unpricedTokens)} tokens` })}
      >
        {costOf(total)}
      </Figure>
      <Figure word="Model calls">{numberText(calls)}</Figure>
      <Figure word="Tokens in" note={`${shortText(tokens.cached)} cached`}>
        {shortText(tokens.input)}
      </Figure>
      <Figure word="Tokens out">{shortText(tokens.output)}</Figure>
    </dl>
  );
}

const namedMax = 3;
/** Characters. */
const nameMax = 60;

function Unpriced({ series, projectId }: { series: Series[]; projectId: string }) {
  const unpriced = series.filter(({ total }) => total.unpricedTokens > 0);
  const silent = series.reduce((sum, { total }) => sum + total.unmeasuredCalls, 0);
  if (unpriced.length === 0 && silent === 0) return null;
  const names = unpriced.slice(0, namedMax).map(({ model }) => {
    if (model === null) return "an unknown model";
    return model.length > nameMax ? `${model.slice(0, nameMax - 1)}…` : model;
  });
  const others = unpriced.length - names.length;
  return (
    <Notice tone="warn">
      {unpriced.length > 0 && (
        <>
          No known price for tokens of{" "}
          {names.map((name, at) => (
            <span key={name} className="break">
              {at > 0 && ", "}
              <strong>{name}</strong>
            </span>
          ))}
          {others > 0 && ` and ${numberText(others)} more`}: the cost leaves them out.{" "}
          <Link to="/projects/$projectId/settings/prices" params={{ projectId }}>
            Add prices
          </Link>{" "}
        </>
      )}
      {silent > 0 && `${numberText(silent)} ${silent === 1 ? "call has" : "calls have"} no token counts.`}
    </Notice>
  );
}

function Charts({ insights, urlOf }: { insights: ModelInsights; urlOf: CountedUrl }) {
  const { interval } = insights;
  const frame: Frame = { from: Date.parse(insights.from), to: Date.parse(insights.to), interval };
  const points = useMemo(() => sumsOf(insights.series), [insights]);
  const place = (at: number) => ({ at, href: urlOf({}, at) });
  const cost = points.map(
    ({ at, parts, ...sum }): Column => ({
      ...place(at),
      facts: [
        { word: "Cost", text: costOf(sum), fill: "first" },
        ...parts
          .sort((a, b) => b.costUsd - a.costUsd)
          .slice(0, namedMax)
          .map(part => ({ word: part.model ?? "Unknown model", text: costOf(part) })),
      ],
      segments: [{ fill: "first", value: sum.costUsd }],
    }),
  );
  const tokens = points.map(
    ({ at, tokens: { input, cached, output } }): Column => ({
      ...place(at),
      facts: [
        { word: "Output", text: numberText(output), fill: "second" },
        { word: "Input", text: numberText(input), fill: "first" },
        { word: "of it cached", text: numberText(cached) },
      ],
      segments: [
        { fill: "first", value: input },
        { fill: "second", value: output },
      ],
    }),
  );
  const legend = [
    { word: "Input", fill: "first" },
    { word: "Output", fill: "second" },
  ] as const;
  return (
    <div className="charts">
      {insights.total.costUsd > 0 && (
        <Plot
          title="Cost"
          frame={frame}
          columns={cost}
          legend={[]}
          top={Math.max(...points.map(({ costUsd }) => costUsd))}
          unit={moneyText}
          height={200}
        />
      )}
      <Plot
        title="Tokens"
        frame={frame}
        columns={tokens}
        legend={[...legend]}
        top={Math.max(4, ...points.map(({ tokens: { input, output } }) => input + output))}
        unit={shortText}
        height={180}
      />
    </div>
  );
}

type Sum = ModelTally & { at: number; parts: (ModelTally & { model: string | null })[] };

/** All models as one, by interval, in the order of time. */
function sumsOf(series: Series[]): Sum[] {
  const sums = new Map<string, Sum>();
  for (const { model, points } of series) {
    for (const { at, ...tally } of points) {
      const sum = sums.get(at) ?? { ...none, tokens: { ...none.tokens }, at: Date.parse(at), parts: [] };
      sums.set(at, sum);
      sum.parts.push({ ...tally, model });
      sum.costUsd += tally.costUsd;
      sum.unpricedTokens += tally.unpricedTokens;
      sum.unmeasuredCalls += tally.unmeasuredCalls;
      for (const kind of ["input", "cached", "output"] as const) sum.tokens[kind] += tally.tokens[kind];
    }
  }
  return [...sums.values()].sort((a, b) => a.at - b.at);
}

const none: ModelTally = {
  calls: 0,
  unmeasuredCalls: 0,
  tokens: { input: 0, cached: 0, output: 0 },
  costUsd: 0,
  unpricedTokens: 0,
};

const headings = ["Calls", "Tokens in", "Cached", "Tokens out", "Cost"];

function ModelTable({ series, params, urlOf }: { series: Series[]; params: Params; urlOf: CountedUrl }) {
  const follow = useFollow();
  return (
    <div className="table-wrap" ref={follow}>
      <table className="table ranking models">
        <caption className="unseen">Models, most expensive first</caption>
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">Provider</th>
            {headings.map(heading => (
              <th key={heading} scope="col" className="number">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {series.map(({ provider, model, total }) => (
            <tr key={`${provider} ${model}`}>
              <th scope="row" className="break">
                {model === null ? (
                  <span className="quiet">Unknown</span>
                ) : (
                  <a href={urlOf({ model })}>{model}</a>
                )}
              </th>
              <td data-label="Provider" className="break">
                {provider ?? <span className="quiet">–</span>}
              </td>
              {number("Calls", total.calls)}
              {number("Tokens in", total.tokens.input)}
              {number("Cached", total.tokens.cached)}
              {number("Tokens out", total.tokens.output)}
              <td data-label="Cost" className="number">
                {total.unpricedTokens > 0 && total.costUsd === 0 ? (
                  <Link to="/projects/$projectId/settings/prices" params={params}>
                    No price
                  </Link>
                ) : (
                  costOf(total)
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function number(label: string, value: number) {
  return (
    <td data-label={label} className="number">
      {numberText(value)}
    </td>
  );
}
