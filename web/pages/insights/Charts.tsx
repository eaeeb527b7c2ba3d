// The charts of one series: outcomes with the pass rate above them and, of an agent, durations and tokens.

import { useMemo } from "react";
import type { Insights, Point } from "../../../src/http/projects/insights-schemas.ts";
import type { Outcome } from "../../../src/model/run/run.ts";
import { durationText, numberText, rateText, shortText } from "../../format.ts";
import { outcomes, routingUnavailable } from "../../labels.ts";
import { Icon } from "../../ui/Icon.tsx";
import { type Column, type Fact, type Frame, Plot } from "./Plot.tsx";
import type { CountedAddress } from "./view.ts";

/** From the axis upwards: what failed stands on it, where heights can be compared. */
export const stacked: Outcome[] = ["failed", "missing_instrumentation", "passed", "skipped"];

type ChartsProps = {
  insights: Insights;
  points: Point[];
  /** What is counted: "Runs", or "Results" of one test. */
  noun: string;
  addressOf: CountedAddress;
  /** Of one test. */
  testId?: string | undefined;
};

export function Charts({ insights, points, noun, addressOf, testId }: ChartsProps) {
  const { interval } = insights;
  const frame: Frame = useMemo(
    () => ({ from: Date.parse(insights.from), to: Date.parse(insights.to), interval }),
    [insights.from, insights.to, interval],
  );
  const judged = useMemo(() => columnsOf(points, addressOf, noun, testId), [points, addressOf, noun, testId]);
  const ofAgent = testId === undefined;
  const banded = points.some(point => point.routingUnavailable);
  return (
    <div className="charts">
      <Plot
        title="Pass rate"
        about={
          <span className="quiet small">Passed of passed and failed; skipped and missing do not count.</span>
        }
        frame={frame}
        columns={judged.map(({ segments: _, ...column }) => column)}
        lines={[{ word: "Pass rate", fill: "rate", values: points.map(({ passRate }) => passRate) }]}
        legend={[]}
        top={1}
        fixed
        unit={rate => `${Math.round(rate * 100)} %`}
        height={120}
      />
      <Plot
        title={`${noun} by outcome`}
        about={
          banded && (
            <span className="small text-warn">
              <Icon name={routingUnavailable.icon} />
              Bands: {routingUnavailable.text.toLowerCase()}
            </span>
          )
        }
        frame={frame}
        columns={judged}
        legend={stacked.map(outcome => ({ word: outcomes[outcome].text, fill: outcome }))}
        top={Math.max(4, ...points.map(totalOf))}
        unit={shortText}
        height={240}
      />
      {ofAgent && <Durations frame={frame} points={points} addressOf={addressOf} />}
      {ofAgent && <Tokens frame={frame} points={points} addressOf={addressOf} />}
    </div>
  );
}

type PartProps = { frame: Frame; points: Point[]; addressOf: CountedAddress };

function Durations({ frame, points, addressOf }: PartProps) {
  const of = (share: "p50" | "p95") => points.map(({ durationMs }) => durationMs?.[share] ?? null);
  const legend = [
    { word: "p95", fill: "second", line: true },
    { word: "p50", fill: "first", line: true },
  ] as const;
  const columns = points.map(({ at, durationMs }) => ({
    ...placeOf(at, addressOf),
    facts: [
      { ...legend[0], text: timeText(durationMs?.p95) },
      { ...legend[1], text: timeText(durationMs?.p50) },
    ],
  }));
  return (
    <Plot
      title="Duration"
      frame={frame}
      columns={columns}
      lines={[
        { word: "p95", fill: "second", values: of("p95") },
        { word: "p50", fill: "first", values: of("p50") },
      ]}
      legend={[...legend]}
      top={Math.max(1, ...of("p95").map(value => value ?? 0))}
      unit={durationText}
      height={180}
    />
  );
}

function Tokens({ frame, points, addressOf }: PartProps) {
  const columns = points.map(({ at, tokens = { input: 0, output: 0 } }): Column => {
    return {
      ...placeOf(at, addressOf),
      facts: [
        { word: "Output", text: numberText(tokens.output), fill: "second" },
        { word: "Input", text: numberText(tokens.input), fill: "first" },
      ],
      segments: [
        { fill: "first", value: tokens.input },
        { fill: "second", value: tokens.output },
      ],
    };
  });
  return (
    <Plot
      title="Tokens"
      frame={frame}
      columns={columns}
      legend={[
        { word: "Input", fill: "first" },
        { word: "Output", fill: "second" },
      ]}
      top={Math.max(4, ...points.map(({ tokens }) => (tokens ? tokens.input + tokens.output : 0)))}
      unit={shortText}
      height={180}
    />
  );
}

function columnsOf(
  points: Point[],
  addressOf: CountedAddress,
  noun: string,
  testId: string | undefined,
): Column[] {
  return points.map(point => {
    const at = Date.parse(point.at);
    const facts: Fact[] = [
      { word: noun, text: numberText(point.runs ?? totalOf(point)) },
      { word: "Pass rate", text: rateText(point.passRate) },
      ...[...stacked].reverse().map(outcome => ({
        word: outcomes[outcome].text,
        text: numberText(point.counts[outcome]),
        fill: outcome,
      })),
    ];
    if (point.runs && point.runs > totalOf(point))
      facts.push({ word: "Without a verdict", text: numberText(point.runs - totalOf(point)) });
    if (point.routingUnavailable)
      facts.push({
        word: routingUnavailable.text,
        text: numberText(point.routingUnavailable),
        fill: "unavailable",
      });
    return {
      at,
      href: addressOf({ testId }, at),
      facts,
      marked: Boolean(point.routingUnavailable),
      segments: stacked.map(outcome => ({
        fill: outcome,
        value: point.counts[outcome],
        own: {
          label: `${numberText(point.counts[outcome])} ${outcomes[outcome].text.toLowerCase()}`,
          href: addressOf({ testId, outcome }, at),
        },
      })),
    };
  });
}

function placeOf(at: string, addressOf: CountedAddress): Pick<Column, "at" | "href"> {
  const time = Date.parse(at);
  return { at: time, href: addressOf({}, time) };
}

/** Of a time that may not be known. */
export function timeText(ms: number | null | undefined): string {
  return ms == null ? "–" : durationText(ms);
}

export function totalOf({ counts }: Pick<Point, "counts">): number {
  return stacked.reduce((sum, outcome) => sum + counts[outcome], 0);
}
