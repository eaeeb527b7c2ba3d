// Tries rules that need not be saved on the latest traces, and says what they would have changed.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Privacy, PrivacyPreview } from "../../../src/http/privacy-schemas.ts";
import type { Failure } from "../../api.ts";
import { numberText } from "../../format.ts";
import { counted } from "../../labels.ts";
import { previewPrivacy } from "../../mutations/privacy.ts";
import { Button } from "../../ui/Button.tsx";

type TryRedactionProps = { projectId: string; settings: Privacy; onRefused: (failure: Failure) => void };

export function TryRedaction({ projectId, settings, onRefused }: TryRedactionProps) {
  const { builtIn, rules, pseudonyms } = settings;
  const [busy, setBusy] = useState(false);
  const [tried, setTried] = useState<{ rules: string; preview: PrivacyPreview }>();
  const text = JSON.stringify([builtIn, rules, pseudonyms]);
  const start = async () => {
    setBusy(true);
    const answer = await previewPrivacy(projectId, settings);
    setBusy(false);
    if (!answer.ok) return onRefused(answer.failure);
    setTried({ rules: text, preview: answer.value });
  };
  return (
    <div className="stack">
      <div className="line">
        <Button
          busy={busy || builtIn.length + rules.length + pseudonyms.length === 0}
          onClick={() => void start()}
        >
          Try on past traces
        </Button>
        <span className="quiet">The latest 100 of the project. Nothing is changed.</span>
      </div>
      {tried?.rules === text && <Preview projectId={projectId} preview={tried.preview} />}
    </div>
  );
}

function Preview({ projectId, preview }: { projectId: string; preview: PrivacyPreview }) {
  const { traces, skipped, changed, values, rules } = preview;
  if (traces === 0) return <p role="status">No traces have arrived yet.</p>;
  return (
    <div className="stack-tight" role="status">
      <p>
        {values === 0
          ? `These rules would have changed nothing in the latest ${counted(traces, "trace")}.`
          : `These rules would have changed ${counted(values, "value")}, in ${numberText(changed)} of ${counted(traces, "trace")}.`}
        {skipped > 0 && ` ${counted(skipped, "trace")} could not be read in time.`}
      </p>
      <div className="table-wrap">
        <table className="table">
          <caption className="unseen">What each rule would have changed</caption>
          <thead>
            <tr>
              <th scope="col">Rule</th>
              <th scope="col" className="number">
                Values
              </th>
              <th scope="col" className="number">
                Traces
              </th>
              <th scope="col">For example</th>
            </tr>
          </thead>
          <tbody>
            {rules.map(({ rule, values, traces, examples }) => (
              <tr key={rule}>
                <th scope="row">
                  <code>{rule}</code>
                </th>
                <td data-label="Values" className="number">
                  {numberText(values)}
                </td>
                <td data-label="Traces" className="number">
                  {numberText(traces)}
                </td>
                <td data-label="For example">
                  {examples.slice(0, 3).map(({ traceId, agentId, spanId, path }) => (
                    <div key={`${traceId} ${spanId} ${path}`}>
                      <Link
                        to="/projects/$projectId/agents/$agentId/traces/$traceId"
                        params={{ projectId, agentId, traceId }}
                        search={spanId === null ? {} : { span: spanId }}
                        className="break"
                      >
                        <code>{path}</code>
                      </Link>
                    </div>
                  ))}
                  {examples.length === 0 && <span className="quiet">None</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
