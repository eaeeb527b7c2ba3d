// A confusion table: what the judge said against what it should have said, for checks or for scenario matches.
import type { JudgedAnswer, LabelAnswer, LabelCount } from "../../../src/model/judge/label.ts";
import { numberText } from "../../format.ts";
import { answerTexts } from "./agreement.ts";

type Kind = { judged: JudgedAnswer[]; answers: LabelAnswer[] };

const kinds: Kind[] = [
  { judged: ["pass", "fail", "undecided"], answers: ["pass", "fail"] },
  { judged: ["match", "unsure", "no_match"], answers: ["match", "no_match"] },
];

/** An unsure scenario runs the test, as a match does. Null: the judge was neither right nor wrong. */
function isRight(judged: JudgedAnswer, answer: LabelAnswer): boolean | null {
  if (judged === "undecided") return null;
  return (judged === "unsure" ? "match" : judged) === answer;
}

const rightTexts: Record<string, string> = { true: ", right", false: ", wrong", null: ", undecided" };

/** All counts are of one kind. */
export function Confusion({ title, counts }: { title: string; counts: LabelCount[] }) {
  const kind = kinds.find(({ judged }) => counts.some(one => judged.includes(one.judged)));
  if (!kind) return null;
  const { judged, answers } = kind;
  const countOf = (one: JudgedAnswer, answer: LabelAnswer) =>
    counts.find(count => count.judged === one && count.answer === answer)?.count ?? 0;
  const rows = judged.filter(one => one !== "undecided" || answers.some(answer => countOf(one, answer) > 0));
  return (
    <div className="labels-confusion">
      <table className="table labels-matrix">
        <caption className="unseen">{title}: the judge’s answers by what they should be</caption>
        <thead>
          <tr>
            <th scope="col">Judge said</th>
            {answers.map(answer => (
              <th key={answer} scope="col" className="number">
                Should be “{answerTexts[answer]}”
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(one => (
            <tr key={one}>
              <th scope="row">{answerTexts[one]}</th>
              {answers.map(answer => (
                <td
                  key={answer}
                  className="number"
                  data-label={`Should be “${answerTexts[answer]}”`}
                  data-right={isRight(one, answer) ?? undefined}
                >
                  {numberText(countOf(one, answer))}
                  <span className="unseen">{rightTexts[String(isRight(one, answer))]}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
