// What a judge said of a reply: the score by its threshold, each criterion with its passage and reason, and who judged.

import type { Spent } from "../../../../src/model/judge/judge.ts";
import type { Check, Result, SemanticActual } from "../../../../src/model/run/run.ts";
import type { AssertionOf } from "../../../../src/model/test-case/assertion.ts";
import { durationText } from "../../../format.ts";
import { Badge } from "../../../ui/Badge.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Icon } from "../../../ui/Icon.tsx";
import { quoteName } from "../quoted.ts";
import { useTrace } from "./context.ts";
import { Flag, JudgedBy } from "./Flag.tsx";
import { Meter } from "./Meter.tsx";
import { Facts, Long, Names } from "./Value.tsx";
import { inline, number, verdictWords } from "./words.ts";

type SemanticProps = { check: Check; assertion: AssertionOf<"semantic">; result: Result };

export function SemanticDetail({ check, assertion, result }: SemanticProps) {
  const ofCheck = Object.hasOwn(assertion, "threshold") ? assertion.threshold : result.test.threshold;
  const threshold = typeof ofCheck === "number" ? ofCheck : null;
  const { model, promptVersion, votes, cached, spent, criteria = [] } = actualOf(check);
  const { score, suspicious } = check;
  return (
    <>
      {typeof score === "number" && threshold !== null && (
        <Meter
          name="Score"
          value={score}
          limit={threshold}
          end={1}
          good={score >= threshold !== assertion.negate}
          word={score >= threshold ? "Reaches the threshold" : "Below the threshold"}
          text={`${number.format(score)} of 1, threshold ${number.format(threshold)}`}
        />
      )}
      {votes && votes.of > 1 && threshold !== null && <Votes votes={votes} threshold={threshold} />}
      {suspicious !== undefined && (
        <Flag title="The reply is flagged." reason={suspicious}>
          It changed no verdict; read the reply before you rely on this one.
        </Flag>
      )}
      {criteria.length > 0 && <Criteria criteria={criteria} check={check} testId={result.testId} />}
      <Facts
        facts={[
          ["Criteria", criteria.length === 0 && <Long text={[assertion.criteria].flat().join("\n")} />],
          ["Reference", assertion.reference && <Long text={assertion.reference} />],
          ["Judge", model && <JudgedBy model={model} promptVersion={promptVersion} />],
          ["Judged", cached ? "Before: the same was asked, so nothing was now." : spent && spentText(spent)],
          ["Threshold", threshold === null && <code>{inline(ofCheck)}</code>],
          ["Spans searched", searchedOf(check) && <Names names={searchedOf(check)!} />],
        ]}
      />
    </>
  );
}

/** How far a vote lay from the others is what tells a close call from a clear one. */
function Votes({ votes, threshold }: { votes: SemanticActual["votes"]; threshold: number }) {
  const { passed, of, scores } = votes;
  return (
    <div className="votes">
      <span>
        {passed} of {of} votes reach it{passed > 0 && passed < of && ": a close call"}
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
                <span className="unseen">{score >= threshold ? ", reaches it" : ", below it"}</span>
              </>
            )}
          </li>
        ))}
      </ul>
      <span className="quiet small">The verdicts below are of the vote in the middle.</span>
    </div>
  );
}

type CriteriaProps = { criteria: SemanticActual["criteria"]; check: Check; testId: string };

function Criteria({ criteria, check, testId }: CriteriaProps) {
  return (
    <ol className="criteria" aria-label="Criteria">
      {criteria.map(({ criterion, verdict, evidence, reason }, at) => (
        <li key={at} className="criterion" data-verdict={verdict}>
          <p>
            <Badge word={verdictWords[verdict]} /> <Long text={criterion} />
          </p>
          {evidence !== "" && (
            <Quotation text={evidence} name={quoteName({ testId, checkId: check.id, at })} />
          )}
          <p className="quiet">
            <Long text={reason} />
          </p>
        </li>
      ))}
    </ol>
  );
}

const labelMax = 40;

function Quotation({ text, name }: { text: string; name: string }) {
  const { quoted, onQuote } = useTrace();
  const short = text.length > labelMax ? `${text.slice(0, labelMax)}…` : text;
  return (
    <div className="quotation">
      <blockquote>
        <Long text={text} />
      </blockquote>
      {onQuote && (
        <Button small look="link" aria-pressed={quoted === name} onClick={() => onQuote(name)}>
          Show in the reply<span className="unseen">: “{short}”</span>
        </Button>
      )}
    </div>
  );
}

function spentText({ ms, inputTokens, outputTokens }: Spent): string {
  const tokens = `${number.format(inputTokens)} in, ${number.format(outputTokens)} out`;
  return inputTokens + outputTokens > 0
    ? `In ${durationText(ms)}, tokens ${tokens}`
    : `In ${durationText(ms)}`;
}

/** Of a check that was not judged it may be null, or the spans that were there. */
function actualOf({ actual }: Check): Partial<SemanticActual> {
  return typeof actual === "object" && actual !== null ? (actual as Partial<SemanticActual>) : {};
}

function searchedOf({ actual }: Check): string[] | null {
  const { searched } = (actual ?? {}) as { searched?: unknown };
  return Array.isArray(searched) ? searched : null;
}
