// Confusion tables: what the judge said against what it should have said, for checks and for scenario matches.
import type { JudgedAnswer, LabelAnswer, LabelCount } from "../../../src/model/judge/label.ts";
import { numberText } from "../../format.ts";
import { answerTexts } from "./agreement.ts";

type Kind = { title: string; judged: JudgedAnswer[]; answers: LabelAnswer[] };

const kinds: Kind[] = [
  { title: "Semantic checks", judged: ["pass", "fail"], answers: ["pass", "fail"] },
  { title: "Scenario matches", judged: ["match", "unsure", "no_match"], answers: ["match", "no_match"] },
];

export function Confusion({ counts }: { counts: LabelCount[] }) {
  const shown = kinds.filter(({ judged }) => counts.some(one => judged.includes(one.judged)));
  return (
    <div className="labels-confusion">
      {shown.map(kind => (
        <Table key={kind.title} kind={kind} counts={counts} />
      ))}
    </div>
  );
}

function Table({ kind: { title, judged, answers }, counts }: { kind: Kind; counts: LabelCount[] }) {
  const countOf = (one: JudgedAnswer, answer: LabelAnswer) =>
    counts.find(count => count.judged === one && count.answer === answer)?.count ?? 0;
  // An unsure scenario runs the test, as a match does.
  const isRight = (one: JudgedAnswer, answer: LabelAnswer) => (one === "unsure" ? "match" : one) === answer;
  return (
    <section className="stack-tight" aria-label={title}>
      <h3>{title}</h3>
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
          {judged.map(one => (
            <tr key={one}>
              <th scope="row">{answerTexts[one]}</th>
              {answers.map(answer => (
                <td
                  key={answer}
                  className="number"
                  data-label={`Should be “${answerTexts[answer]}”`}
                  data-right={isRight(one, answer)}
                >
                  {numberText(countOf(one, answer))}
                  <span className="unseen">{isRight(one, answer) ? ", right" : ", wrong"}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
