// The main figures of the overview: pass rate, traffic and verdicts, each number linked to its list.
import { Fragment, type ReactNode } from "react";
import { outcomes, type Word } from "../../labels.ts";
import { Icon } from "../../ui/Icon.tsx";
import { type ListName, numbersOf, tracesOf } from "./lists.ts";
import { CountLink, type SectionProps } from "./parts.tsx";
import { countText, leftOutOfRate, rateBefore, rateWords, trafficChange } from "./words.ts";

export function Figures({ overview, params }: SectionProps) {
  const { results, traffic } = overview;
  const lists = tracesOf(overview);
  const numbers = numbersOf(overview);
  const rate = rateWords(results.now);
  const leftOut = leftOutOfRate(overview);
  const link = (name: ListName) =>
    numbers[name].count === 0 ? (
      0
    ) : (
      <CountLink params={params} search={lists[name]}>
        {countText(numbers[name])}
      </CountLink>
    );
  const weekBefore = (name: ListName) => results.before.evaluated > 0 && <>{link(name)} a week before</>;
  return (
    <>
      <dl className="overview-figures">
        <Figure label="Pass rate" wide note={rate.note} about={rateBefore(results.before)}>
          {rate.text}
        </Figure>
        <Figure
          label="Traces"
          wide
          about={
            traffic.before.traces.count > 0 && trafficChange(traffic) === "a week before" ? (
              <>{link("trafficBefore")} a week before</>
            ) : (
              <>
                {trafficChange(traffic)}
                {traffic.before.traces.count > 0 && <> ({link("trafficBefore")})</>}
              </>
            )
          }
        >
          {link("traffic")}
        </Figure>
        <Figure word={outcomes.passed} about={weekBefore("passedBefore")}>
          {link("passed")}
        </Figure>
        <Figure word={outcomes.failed} about={weekBefore("failedBefore")}>
          {link("failed")}
        </Figure>
      </dl>
      {leftOut.length > 0 && (
        <p className="quiet small">
          Not in the pass rate:{" "}
          {leftOut.map(({ name, text }, at) => (
            <Fragment key={name}>
              {at > 0 && ", "}
              <CountLink params={params} search={lists[name]}>
                {text}
              </CountLink>
            </Fragment>
          ))}
          .
        </p>
      )}
    </>
  );
}

type FigureProps = {
  label?: string;
  word?: Word;
  wide?: boolean;
  note?: string;
  about?: ReactNode;
  children: ReactNode;
};

function Figure({ label, word, wide = false, note, about, children }: FigureProps) {
  return (
    <div className="overview-figure" data-wide={wide || undefined}>
      <dt data-tone={word?.tone}>
        {word && <Icon name={word.icon} />}
        {label ?? word?.text}
      </dt>
      <dd>
        <span className="overview-value">{children}</span>
        {note && <span>{note}</span>}
        <span className="quiet small">{about}</span>
      </dd>
    </div>
  );
}
