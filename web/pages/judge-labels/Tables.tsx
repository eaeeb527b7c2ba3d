// Agreement with people, one row per judge, or per version and check of a test.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { CheckRow, JudgeAgreement } from "../../../src/http/judge/agreement-schemas.ts";
import type { Agreement } from "../../../src/model/judge/label.ts";
import { intervalText, numberText, rateText } from "../../format.ts";
import { PassRateShort } from "../../ui/PassRate.tsx";
import { type Errors, judgeText, shareText, uncorrectedTexts } from "./agreement.ts";

export type Row = Agreement & {
  key: string;
  name: ReactNode;
  errors: Errors;
  passRate?: CheckRow["passRate"];
};

type Judge = JudgeAgreement["checks" | "scenarios"]["judges"][number];

export const judgeRow = <J extends Judge>(judge: J, errors: Errors): Row => ({
  ...{ ...judge, errors },
  key: judgeText(judge),
  name: judgeText(judge),
});

type TestVersion = Pick<CheckRow, "testId" | "name" | "testVersion"> & {
  checkId?: string;
  passRate?: CheckRow["passRate"];
} & Agreement;

export const testRow = (test: TestVersion, errors: Errors, projectId: string): Row => ({
  ...{ ...test, errors },
  key: JSON.stringify([test.testId, test.testVersion, test.checkId]),
  name: (
    <>
      <Link to="/projects/$projectId/settings/labels" params={{ projectId }} search={{ test: test.testId }}>
        <bdi>{test.name}</bdi>
      </Link>
      <span className="quiet small">
        {test.testVersion !== null && ` version ${numberText(test.testVersion)}`}
        {test.checkId !== undefined && (
          <>
            , check <code>{test.checkId}</code>
          </>
        )}
      </span>
    </>
  ),
});

export function AgreementTable({
  caption,
  heading,
  rows,
}: {
  caption: string;
  heading: string;
  rows: Row[];
}) {
  const errors = rows[0]?.errors.map(({ title }) => title) ?? [];
  const hasRates = rows.some(({ passRate }) => passRate);
  return (
    <div className="table-wrap">
      <table className="table">
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{heading}</th>
            {["Decided", "Agreement", ...errors, ...(hasRates ? ["Live pass rate"] : [])].map(title => (
              <th key={title} scope="col" className="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={row.key}>
              <th scope="row" className="break">
                {row.name}
              </th>
              <td className="number" data-label="Decided">
                {row.decidedShare === null
                  ? "–"
                  : `${numberText(row.labels)} of ${numberText(row.labels + row.undecided)}`}
              </td>
              <td className="number" data-label="Agreement">
                {rateText(row.share)}
                {row.share !== null && <span className="quiet"> ({intervalText(row)})</span>}
              </td>
              {row.errors.map(({ title, share }) => (
                <td key={title} className="number" data-label={title}>
                  {shareText(share)}
                </td>
              ))}
              {row.passRate && (
                <td className="number" data-label="Live pass rate">
                  <LivePassRate of={row.passRate} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function LivePassRate({ of: { passed, failed, corrected, uncorrected } }: { of: CheckRow["passRate"] }) {
  return (
    <span className="pass-rates">
      {passed + failed > 0 && <PassRateShort passed={passed} of={passed + failed} />}
      <span className="quiet small">
        {corrected && `Corrected: ${rateText(corrected.rate)} (${intervalText(corrected)})`}
        {uncorrected && uncorrectedTexts[uncorrected]}
      </span>
    </span>
  );
}
