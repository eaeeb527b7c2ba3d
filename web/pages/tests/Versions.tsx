// The results of a test on live traffic by its version: pass rate, a bar of outcomes, and counts.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { TestVersion } from "../../../src/http/test-cases/backtest-schemas.ts";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import { numberText } from "../../format.ts";
import { countsText } from "../../labels.ts";
import { testVersionsQuery } from "../../queries/backtests.ts";
import { Button } from "../../ui/Button.tsx";
import { PassRateShort } from "../../ui/PassRate.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import "../../styles/runs.css";

const shownFirst = 5;
const stacked: Outcome[] = ["passed", "failed", "missing_instrumentation", "skipped"];

export function Versions({ testId, current }: { testId: string; current: number }) {
  const { data: versions = [] } = useQuery(testVersionsQuery(testId));
  const [isWhole, setWhole] = useState(false);
  if (versions.length === 0) return null;
  const shown = isWhole ? versions : versions.slice(0, shownFirst);
  return (
    <section className="card stack-tight" aria-label="Results by version">
      <h2>Results by version</h2>
      <div className="table-wrap">
        <table className="table tests-versions">
          <thead>
            <tr>
              <th scope="col">Version</th>
              <th scope="col" className="number">
                Pass rate
              </th>
              <th scope="col">Outcomes</th>
              <th scope="col">Last evaluated</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(version => (
              <VersionRow key={version.version} of={version} isCurrent={version.version === current} />
            ))}
          </tbody>
        </table>
      </div>
      {versions.length > shown.length && (
        <div className="line">
          <Button small onClick={() => setWhole(true)}>
            Show all {numberText(versions.length)} versions
          </Button>
        </div>
      )}
    </section>
  );
}

function VersionRow({
  of: { version, counts, notFullyEvaluated, lastRunAt },
  isCurrent,
}: {
  of: TestVersion;
  isCurrent: boolean;
}) {
  return (
    <tr>
      <th scope="row">
        {numberText(version)}
        {isCurrent && <span className="tests-under">Current</span>}
      </th>
      <td data-label="Pass rate" className="number">
        <PassRateShort passed={counts.passed} of={counts.passed + counts.failed} />
      </td>
      <td data-label="Outcomes">
        <span className="tests-version">
          <span className="runs-bar" aria-hidden="true">
            {stacked.map(kind =>
              counts[kind] > 0 ? (
                <span key={kind} data-kind={kind} style={{ flexGrow: counts[kind] }} />
              ) : null,
            )}
          </span>
          <span className="small">{countsText(counts, notFullyEvaluated)}</span>
        </span>
      </td>
      <td data-label="Last evaluated">
        <RelativeTime at={lastRunAt} />
      </td>
    </tr>
  );
}
