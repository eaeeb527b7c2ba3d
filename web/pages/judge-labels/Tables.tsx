// Agreement with people, one row per judge or per test case.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { JudgeAgreement } from "../../../src/http/judge/label-schemas.ts";
import { intervalText, numberText, rateText } from "../../format.ts";
import { judgeText } from "./agreement.ts";

export function JudgeTable({ judges }: Pick<JudgeAgreement, "judges">) {
  return (
    <section className="stack-tight" aria-labelledby="labels-judges">
      <h2 id="labels-judges">By judge</h2>
      <Table
        caption="Agreement by judge"
        heading="Judge"
        rows={judges.map(judge => ({ ...judge, key: judgeText(judge), name: judgeText(judge) }))}
      />
    </section>
  );
}

export function TestTable({ tests, projectId }: Pick<JudgeAgreement, "tests"> & { projectId: string }) {
  return (
    <section className="stack-tight" aria-labelledby="labels-tests">
      <h2 id="labels-tests">By test case</h2>
      <Table
        caption="Agreement by test case"
        heading="Test case"
        rows={tests.map(test => ({
          ...test,
          key: test.testId,
          name: (
            <Link
              to="/projects/$projectId/settings/labels"
              params={{ projectId }}
              search={{ test: test.testId }}
            >
              <bdi>{test.name}</bdi>
            </Link>
          ),
        }))}
      />
    </section>
  );
}

type Row = Pick<JudgeAgreement, "labels" | "agreed" | "undecided" | "share" | "low" | "high"> & {
  key: string;
  name: ReactNode;
};

function Table({ caption, heading, rows }: { caption: string; heading: string; rows: Row[] }) {
  return (
    <div className="table-wrap">
      <table className="table">
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{heading}</th>
            <th scope="col" className="number">
              Labels
            </th>
            <th scope="col" className="number">
              Agreement
            </th>
            <th scope="col" className="number">
              95% interval
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={row.key}>
              <th scope="row" className="break">
                {row.name}
              </th>
              <td className="number" data-label="Labels">
                <span>
                  {numberText(row.labels)}
                  {row.undecided > 0 && (
                    <span className="quiet"> + {numberText(row.undecided)} undecided</span>
                  )}
                </span>
              </td>
              <td className="number" data-label="Agreement">
                {rateText(row.share)}
              </td>
              <td className="number" data-label="95% interval">
                {intervalText(row)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
