// What privacy rules redacted in an agent's traces over time, by rule: it shows what the agent is told, and what it tells.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { RedactionInsights } from "../../../src/http/projects/redaction-insights-schemas.ts";
import { numberText, shortText } from "../../format.ts";
import { redactionInsightsQuery } from "../../queries/insights.ts";
import { privacyQuery } from "../../queries/privacy.ts";
import { useFollow } from "../../shell/follow.ts";
import { EmptyState, Loaded, Skeleton } from "../../ui/State.tsx";
import { type Column, type Frame, Plot } from "./Plot.tsx";
import { Patterns } from "./Swatch.tsx";
import { Figure } from "./Totals.tsx";
import { intervalText, rangeText } from "./utc-times.ts";
import { askOf, type CountedUrl, countedUrl, type View } from "./view.ts";

type Params = { projectId: string; agentId: string };
type Series = RedactionInsights["series"];

export function RedactionResults({ view, params }: { view: View; params: Params }) {
  const insights = useQuery(redactionInsightsQuery(params.agentId, askOf(view)));
  return <Loaded query={insights}>{data => <Results insights={data} view={view} params={params} />}</Loaded>;
}

function Results({ insights, view, params }: { insights: RedactionInsights; view: View; params: Params }) {
  const { from, to, interval, series, total } = insights;
  const urlOf = useMemo(() => countedUrl(params, { from, to, interval }), [params, from, to, interval]);
  return (
    <>
      <p className="quiet small">
        {rangeText(Date.parse(from), Date.parse(to), interval)} UTC,{" "}
        {interval === "hour" ? "hourly" : "daily"}. Shows what privacy rules redacted in arriving traces;
        traces that are sent again count again.
      </p>
      {series.length === 0 ? (
        <NoRedactions params={params} />
      ) : (
        <>
          <dl className="totals">
            <Figure word="Redactions">{numberText(total)}</Figure>
            <Figure word="Rules that found something">{numberText(series.length)}</Figure>
          </dl>
          <Patterns />
          {view.form === "chart" && <Chart insights={insights} urlOf={urlOf} />}
          <RuleTable insights={insights} urlOf={urlOf} />
        </>
      )}
    </>
  );
}

const namedMax = 5;

function Chart({ insights, urlOf }: { insights: RedactionInsights; urlOf: CountedUrl }) {
  const { from, to, interval, series } = insights;
  const frame: Frame = { from: Date.parse(from), to: Date.parse(to), interval };
  const columns = useMemo(() => columnsOf(series, urlOf), [series, urlOf]);
  return (
    <div className="charts">
      <Plot
        title="Redactions"
        frame={frame}
        columns={columns}
        legend={[]}
        top={Math.max(4, ...columns.map(({ segments }) => segments![0]!.value))}
        unit={shortText}
        height={200}
      />
    </div>
  );
}

/** All rules as one, by interval, in the order of time. */
function columnsOf(series: Series, urlOf: CountedUrl): Column[] {
  const points = series.flatMap(({ rule, points }) => points.map(point => ({ ...point, rule })));
  const byTime = [...Map.groupBy(points, ({ at }) => Date.parse(at))].sort(([a], [b]) => a - b);
  return byTime.map(([at, parts]) => {
    const sum = parts.reduce((sum, { count }) => sum + count, 0);
    const named = parts.toSorted((a, b) => b.count - a.count).slice(0, namedMax);
    return {
      at,
      href: urlOf({}, at),
      facts: [
        { word: "Redactions", text: numberText(sum), fill: "first" },
        ...named.map(({ rule, count }) => ({ word: rule, text: numberText(count) })),
      ],
      segments: [{ fill: "first", value: sum }],
    };
  });
}

const notes: Partial<Record<string, string>> = {
  pseudonym: "IDs stored as pseudonyms",
  unchecked: "texts not stored, because checking them took too long",
};

type RuleTableProps = { insights: RedactionInsights; urlOf: CountedUrl };

function RuleTable({ insights: { series, total, interval }, urlOf }: RuleTableProps) {
  const follow = useFollow();
  return (
    <div className="table-wrap" ref={follow}>
      <table className="table ranking">
        <caption className="unseen">Rules, most frequent first</caption>
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col" className="number">
              Redactions
            </th>
            <th scope="col" className="number">
              Share
            </th>
            <th scope="col">Last</th>
          </tr>
        </thead>
        <tbody>
          {series.map(({ rule, points, total: count }) => (
            <tr key={rule}>
              <th scope="row">
                <span>
                  <a href={urlOf({ redacted: rule })}>
                    <code>{rule}</code>
                  </a>
                  {notes[rule] && <span className="quiet small"> {notes[rule]}</span>}
                </span>
              </th>
              <td data-label="Redactions" className="number">
                {numberText(count)}
              </td>
              <td data-label="Share" className="number">
                {100 * count < total ? "<1" : Math.round((100 * count) / total)}%
              </td>
              <td data-label="Last">{intervalText(Date.parse(points.at(-1)!.at), interval)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Whether there is no rule, or nothing that one found. */
function NoRedactions({ params }: { params: Params }) {
  const { data: privacy } = useQuery(privacyQuery(params.projectId));
  if (!privacy) return <Skeleton />;
  const isOff = privacy.builtIn.length + privacy.rules.length + privacy.pseudonyms.length === 0;
  return (
    <EmptyState
      icon="none"
      title={isOff ? "This project has no privacy rules" : "No redactions in this period"}
    >
      <p className="quiet">
        {isOff
          ? "Rules redact emails, phone numbers, secrets and your own patterns before a trace is stored."
          : "The project’s privacy rules found nothing in the traces that arrived. Try a longer period."}
      </p>
      <Link className="button" to="/projects/$projectId/settings/privacy" params={params}>
        Privacy settings
      </Link>
    </EmptyState>
  );
}
