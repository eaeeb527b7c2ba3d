// A judge’s verdict on a reply: score and threshold, each criterion with its quotation and reason, and the model.

import type { Spent } from "../../../../src/model/judge/judge.ts";
import type { JudgedAnswer } from "../../../../src/model/judge/label.ts";
import type { Quote } from "../../../../src/model/judge/material.ts";
import type { Check, Evidence, Result, SemanticActual } from "../../../../src/model/run/run.ts";
import type { AssertionOf } from "../../../../src/model/test-case/assertion.ts";
import { durationText } from "../../../format.ts";
import { materialText, sourceWords, withheldText } from "../../../judge-context.ts";
import { verdictWords } from "../../../labels.ts";
import { isRecord } from "../../../record.ts";
import { restsOnWords } from "../../../rests-on.ts";
import { Badge } from "../../../ui/Badge.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Icon } from "../../../ui/Icon.tsx";
import { quoteName } from "../quoted.ts";
import { searchedOf } from "./actual.ts";
import { useTrace } from "./context.ts";
import { EvidenceChip } from "./Evidence.tsx";
import { Flag, JudgedBy } from "./Flag.tsx";
import { LabelControl } from "./LabelControl.tsx";
import { Meter } from "./Meter.tsx";
import { inline, number } from "./phrases.ts";
import { Facts, Long, Names } from "./Value.tsx";

type SemanticProps = { check: Check; assertion: AssertionOf<"semantic">; result: Result };

export function SemanticDetail({ check, assertion, result }: SemanticProps) {
  const ofCheck = Object.hasOwn(assertion, "threshold") ? assertion.threshold : result.test.threshold;
  const threshold = typeof ofCheck === "number" ? ofCheck : null;
  const actual = actualOf(check);
  const { model, promptVersion, votes, cached, spent, criteria = [], material, withheld } = actual;
  const { score, suspicious } = check;
  const judged = judgedAnswerOf(check);
  return (
    <>
      {typeof score === "number" && threshold !== null && (
        <Meter value={score} limit={threshold} end={1} good={score >= threshold !== assertion.negate} />
      )}
      {votes && votes.of > 1 && threshold !== null && <Votes votes={votes} threshold={threshold} />}
      {suspicious !== undefined && (
        <Flag title="Reply flagged." reason={suspicious}>
          The verdict did not change; read the reply before you rely on it.
        </Flag>
      )}
      {material?.suspicious && (
        <Flag title={`${sourceWords[material.suspicious.from]} flagged.`} reason={material.suspicious.reason}>
          The verdict did not change; read it before you rely on the verdict.
        </Flag>
      )}
      {actual.sameModel && (
        <p className="quiet small">
          The agent uses the judge’s model. Models tend to favor their own replies: use another one to judge.
        </p>
      )}
      {criteria.length > 0 && <Criteria criteria={criteria} check={check} testId={result.testId} />}
      <Facts
        facts={[
          ["Criteria", criteria.length === 0 && <Long text={[assertion.criteria].flat().join("\n")} />],
          ["Reference", assertion.reference && <Long text={assertion.reference} />],
          ["Judge saw", material && materialText(material)],
          ["Withheld by privacy settings", withheld && withheldText(withheld)],
          ["Judge", model && promptVersion && <JudgedBy model={model} promptVersion={promptVersion} />],
          ["Judged", cached ? "Earlier answer reused; nothing was asked." : spent && spentText(spent)],
          ["Threshold", threshold === null && <code>{inline(ofCheck)}</code>],
          ["Spans searched", searchedOf(check) && <Names names={searchedOf(check)!} />],
        ]}
      />
      {judged && (
        <LabelControl
          testId={result.testId}
          checkId={check.id}
          judged={judged}
          about={`“${check.id}” of “${result.name}”`}
        />
      )}
    </>
  );
}

/** Undefined if the judge was not asked, or gave no usable answer. */
function judgedAnswerOf({ outcome, skipped, score }: Check): JudgedAnswer | undefined {
  if (outcome === "skipped" && skipped === "undecided") return "undecided";
  if (typeof score !== "number") return undefined;
  return outcome === "passed" ? "pass" : outcome === "failed" ? "fail" : undefined;
}

/** The spread of the votes tells a close call from a clear one. */
function Votes({ votes, threshold }: { votes: SemanticActual["votes"]; threshold: number }) {
  const { passed, of, scores } = votes;
  return (
    <div className="votes">
      <span>
        {passed} of {of} votes reach the threshold{passed > 0 && passed < of && ": a close call"}
      </span>
      <ul className="line" aria-label="Scores of the votes">
        {scores.map((score, vote) => (
          <li key={vote} className="vote">
            {score === null ? (
              <span className="quiet">undecided</span>
            ) : (
              <>
                <Icon name={score >= threshold ? "check" : "cross"} />
                {number.format(score)}
                <span className="unseen">
                  {score >= threshold ? ", reaches the threshold" : ", below the threshold"}
                </span>
              </>
            )}
          </li>
        ))}
      </ul>
      <span className="quiet small">The verdicts below are from the median vote.</span>
    </div>
  );
}

type CriteriaProps = { criteria: SemanticActual["criteria"]; check: Check; testId: string };

function Criteria({ criteria, check, testId }: CriteriaProps) {
  return (
    <ol className="criteria" aria-label="Criteria">
      {criteria.map(({ criterion, verdict, evidence, reason, restsOn, quotes = [] }, at) => (
        <li key={at} className="criterion" data-verdict={verdict}>
          <p>
            <Badge word={verdictWords[verdict]} /> <Long text={criterion} />
          </p>
          {evidence !== "" && quotes.length === 0 && (
            <Quotation text={evidence} name={quoteName({ testId, checkId: check.id, at })} />
          )}
          {quotes.map((quote, index) => (
            <PlacedQuotation
              key={index}
              quote={quote}
              name={
                // The one that the conversation highlights.
                quote.text !== "" &&
                quote.as === "evidence" &&
                quote.from === "reply" &&
                evidence.includes(quote.text)
                  ? quoteName({ testId, checkId: check.id, at })
                  : undefined
              }
            />
          ))}
          <p className="quiet">
            {reason !== "" && <Long text={reason} />}
            {restsOn && <span className="small"> Shown by: {restsOnWords[restsOn].toLowerCase()}.</span>}
          </p>
        </li>
      ))}
    </ol>
  );
}

/** A passage with a chip that says where it is from and leads there. */
function PlacedQuotation({ quote, name }: { quote: Quote; name: string | undefined }) {
  const { as, text, from, spanId, attribute, turn } = quote;
  const label = `${as === "comparison" ? "Compared with: " : ""}${sourceWords[from]}`;
  return (
    <div className="quotation">
      {text === "" ? (
        <p className="quiet small">The quotation was dropped with the content.</p>
      ) : (
        <blockquote>
          <Long text={text} />
        </blockquote>
      )}
      <div className="line">
        {spanId === null ? (
          <span className="chip">{label}</span>
        ) : (
          <EvidenceChip
            place={{ spanId, attribute, ...(turn === undefined ? {} : { turn }) } as Evidence}
            label={label}
          />
        )}
        {name !== undefined && <ShowInReply text={text} name={name} />}
      </div>
    </div>
  );
}

const labelMax = 40;

function Quotation({ text, name }: { text: string; name: string }) {
  return (
    <div className="quotation">
      <blockquote>
        <Long text={text} />
      </blockquote>
      <ShowInReply text={text} name={name} />
    </div>
  );
}

function ShowInReply({ text, name }: { text: string; name: string }) {
  const { quoted, onQuote } = useTrace();
  if (!onQuote) return null;
  const short = text.length > labelMax ? `${text.slice(0, labelMax)}…` : text;
  return (
    <Button small look="link" aria-pressed={quoted === name} onClick={() => onQuote(name)}>
      Show in the reply<span className="unseen">: “{short}”</span>
    </Button>
  );
}

function spentText({ ms, inputTokens, outputTokens, estimated }: Spent): string {
  const tokens = `${number.format(inputTokens)} in, ${number.format(outputTokens)} out${estimated ? " (estimated)" : ""}`;
  return inputTokens + outputTokens > 0
    ? `In ${durationText(ms)}, tokens ${tokens}`
    : `In ${durationText(ms)}`;
}

/** If the check was not judged, this may be null or the names of the spans. */
function actualOf({ actual }: Check): Partial<SemanticActual> {
  return isRecord(actual) ? (actual as Partial<SemanticActual>) : {};
}
