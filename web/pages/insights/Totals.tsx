// The totals of the time range, each linked to the traces or results that it counts.

import type { ReactNode } from "react";
import type { AgentTally, Tally } from "../../../src/http/projects/insights-schemas.ts";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import { numberText, rateText, shortText } from "../../format.ts";
import { notFullyEvaluated, outcomes, routingUnavailable } from "../../labels.ts";
import { useFollow } from "../../shell/follow.ts";
import { Icon } from "../../ui/Icon.tsx";
import type { IconName } from "../../ui/icons.ts";
import { timeText, totalOf } from "./Charts.tsx";
import { type CountedUrl, countedOnly } from "./view.ts";

const shown: Outcome[] = ["passed", "failed", "missing_instrumentation", "skipped"];

type TotalsProps = {
  total: Tally & Partial<AgentTally>;
  noun: string;
  urlOf: CountedUrl;
  testId?: string | undefined;
};

export function Totals({ total, noun, urlOf, testId }: TotalsProps) {
  const follow = useFollow();
  const { counts, notFullyEvaluated: others, passRate, runs = totalOf(total), durationMs, tokens } = total;
  const rated = counts.passed + counts.failed;
  return (
    <dl className="totals" ref={follow}>
      <Figure word="Pass rate" note={`${numberText(counts.passed)} of ${numberText(rated)}`}>
        {rateText(passRate)}
      </Figure>
      <Figure word={noun}>
        <a href={urlOf({ testId })}>{numberText(runs)}</a>
      </Figure>
      {shown.map(outcome => (
        <Figure
          key={outcome}
          word={outcomes[outcome].text}
          icon={outcomes[outcome].icon}
          tone={outcomes[outcome].tone}
        >
          {counts[outcome] === 0 ? (
            0
          ) : (
            <a href={urlOf({ testId, outcome, ...countedOnly(total) })}>{numberText(counts[outcome])}</a>
          )}
        </Figure>
      ))}
      {others > 0 && (
        <Figure word={notFullyEvaluated.text} icon={notFullyEvaluated.icon} tone={notFullyEvaluated.tone}>
          <a href={urlOf({ testId, fullyEvaluated: false })}>{numberText(others)}</a>
        </Figure>
      )}
      {total.routingUnavailable ? (
        <Figure word={routingUnavailable.text} icon={routingUnavailable.icon} tone="warn">
          <a href={urlOf({ routing: "unavailable" })}>{numberText(total.routingUnavailable)}</a>
        </Figure>
      ) : null}
      {durationMs && (
        <Figure word="Duration p50" note={`p95 ${timeText(durationMs.p95)}`}>
          {timeText(durationMs.p50)}
        </Figure>
      )}
      {tokens && (
        <Figure word="Tokens in" note={`${shortText(tokens.output)} out`}>
          {shortText(tokens.input)}
        </Figure>
      )}
    </dl>
  );
}

type FigureProps = {
  word: string;
  icon?: IconName;
  tone?: string | undefined;
  note?: string;
  children: ReactNode;
};

export function Figure({ word, icon, tone, note, children }: FigureProps) {
  return (
    <div className="figure">
      <dt data-tone={tone}>
        {icon && <Icon name={icon} />}
        {word}
      </dt>
      <dd>
        {children}
        {note && <span className="quiet small">{note}</span>}
      </dd>
    </div>
  );
}
