// Tries rules that need not be saved on a past trace, and shows what is read with and without them.
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { Agent } from "../../src/http/projects/schemas.ts";
import type { ListedTrace, TracePreview } from "../../src/http/traces/schemas.ts";
import type { Failure } from "../api.ts";
import { exactMomentText, numberText } from "../format.ts";
import { counted } from "../labels.ts";
import { previewRules } from "../mutations/conventions.ts";
import { latestTracesQuery } from "../queries/conventions.ts";
import { Button } from "../ui/Button.tsx";
import { TraceText } from "../ui/TraceText.tsx";
import type { Rule } from "./RuleRows.tsx";

type TryRulesProps = { agent: Agent; rules: Rule[]; onRefused: (failure: Failure) => void };

/** What was tried: shown until the rules or the trace change. */
type Tried = { traceId: string; rules: string; without: TracePreview; with: TracePreview };

export function TryRules({ agent, rules, onRefused }: TryRulesProps) {
  const id = useId();
  const { data: traces = [] } = useQuery(latestTracesQuery(agent.id));
  const [chosen, setChosen] = useState<(typeof traces)[number]>();
  const [busy, setBusy] = useState(false);
  const [tried, setTried] = useState<Tried>();
  const trace = chosen ?? traces[0];
  if (trace === undefined) return <p className="quiet">Rules can be tried once a trace has arrived.</p>;
  const traceId = trace.id;
  // A trace that was tried stays selected when later ones arrive.
  const listed = traces.some(({ id }) => id === traceId) ? traces : [...traces, trace];
  const text = JSON.stringify(rules);

  const start = async () => {
    setBusy(true);
    setChosen(trace);
    const [without, withRules] = await Promise.all([previewRules(traceId, []), previewRules(traceId, rules)]);
    setBusy(false);
    if (!withRules.ok) return onRefused(withRules.failure);
    if (!without.ok) return onRefused(without.failure);
    setTried({ traceId, rules: text, without: without.value, with: withRules.value });
  };
  return (
    <div className="stack">
      <div className="field">
        <label htmlFor={id}>Past trace</label>
        <div className="line try-rules">
          <select
            id={id}
            className="input"
            value={traceId}
            onChange={({ target }) => setChosen(listed.find(({ id }) => id === target.value))}
          >
            {listed.map(trace => (
              <option key={trace.id} value={trace.id}>
                {titleOf(trace)}
              </option>
            ))}
          </select>
          <Button busy={busy} onClick={() => void start()}>
            Try on this trace
          </Button>
        </div>
      </div>
      {tried?.rules === text && tried.traceId === traceId && <Comparison rules={rules} tried={tried} />}
    </div>
  );
}

function titleOf({ receivedAt, userInput, externalId }: ListedTrace): string {
  return `${exactMomentText(receivedAt)} – ${userInput ?? externalId}`.slice(0, 80);
}

const factsOf = ({ userInput, responseText, tools, tokens, model }: TracePreview) => ({
  Input: userInput,
  Reply: responseText,
  Tools: tools.join(", ") || null,
  Tokens: tokens.total === null ? null : numberText(tokens.total),
  Model: model,
});

function Comparison({ rules, tried }: { rules: Rule[]; tried: Tried }) {
  const before = factsOf(tried.without);
  const after = factsOf(tried.with);
  return (
    <div className="stack-tight" role="status">
      <div className="table-wrap">
        <table className="table">
          <caption className="unseen">What is read in this trace</caption>
          <thead>
            <tr>
              <th scope="col">
                <span className="unseen">Value</span>
              </th>
              <th scope="col">Without rules</th>
              <th scope="col">With these rules</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(after).map(([name, value]) => {
              const old = before[name as keyof typeof before];
              return (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td data-label="Without rules" className="break rule-value">
                    {old === null ? (
                      <span className="quiet">Not in this trace</span>
                    ) : (
                      <TraceText text={old} />
                    )}
                  </td>
                  <td data-label="With these rules" className="break rule-value">
                    {value === null ? (
                      <span className="quiet">Not in this trace</span>
                    ) : value === old ? (
                      <TraceText text={value} />
                    ) : (
                      <b>
                        <TraceText text={value} />
                      </b>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <ul className="quiet">
        {rules.map((rule, at) => (
          <li key={JSON.stringify(rule)}>
            <code className="break">{rule.from}</code> found on {counted(tried.with.matches[at] ?? 0, "span")}
          </li>
        ))}
      </ul>
    </div>
  );
}
