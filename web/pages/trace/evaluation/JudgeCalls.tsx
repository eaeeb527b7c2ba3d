// The judge calls of a run: time, result, cost, and the prompt and answer on demand.

import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { JudgeCall } from "../../../../src/http/judge/schemas.ts";
import type { JudgeUseSum, RunDetail } from "../../../../src/http/traces/run-schemas.ts";
import { durationText, exactClockText, numberText } from "../../../format.ts";
import { counted, judgeCallStates } from "../../../labels.ts";
import { moneyText, usedText } from "../../../money.ts";
import { judgeCallsQuery } from "../../../queries/judging.ts";
import "../../../styles/json.css";
import { Badge } from "../../../ui/Badge.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Copy } from "../../../ui/Copy.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { LongText } from "../../../ui/LongText.tsx";
import { Loaded, MorePages } from "../../../ui/State.tsx";
import { modes, providers } from "../../project/providers.ts";
import { Long } from "./Value.tsx";

const kinds: Record<JudgeCall["kind"], string> = {
  route: "Routing",
  semantic: "Semantic checks",
  classify: "Kinds of criteria",
};

type JudgedRun = Pick<RunDetail, "id" | "judging">;

export function JudgeCalls({ run }: { run: JudgedRun }) {
  const [open, setOpen] = useState(false);
  if (!run.judging) return null;
  return (
    <details className="calls-fold" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="calls-title">Judge calls</span>{" "}
        <span className="quiet small">{sumText(run.judging)}</span>
      </summary>
      {open && <Calls run={run} count={run.judging.calls} />}
    </details>
  );
}

function sumText(sum: JudgeUseSum): string {
  const { calls, costUsd, unpricedTokens, estimatedTokens } = sum;
  const money =
    unpricedTokens === 0
      ? moneyText(costUsd)
      : costUsd > 0
        ? `${moneyText(costUsd)} and ${numberText(unpricedTokens)} tokens of unknown price`
        : "price unknown";
  const estimated = estimatedTokens > 0 ? " (estimated)" : "";
  return `${counted(calls, "call")} · ${usedText(sum)}${estimated} · ${money}`;
}

function Calls({ run, count }: { run: JudgedRun; count: number }) {
  const query = useInfiniteQuery(judgeCallsQuery(run.id, count));
  const [shown, setShown] = useState<JudgeCall>();
  return (
    <Loaded query={query}>
      {calls => (
        <>
          {calls.length === 0 && <p className="quiet">These calls are no longer stored.</p>}
          <ol className="calls" aria-label="Judge calls">
            {calls.map((call, at) => (
              <li key={call.id} className="call">
                <Call call={call} tries={triesOf(calls, at)} onShow={() => setShown(call)} />
              </li>
            ))}
          </ol>
          <MorePages query={query} />
          {shown && <CallDialog call={shown} onClose={() => setShown(undefined)} />}
        </>
      )}
    </Loaded>
  );
}

/** Which try this is: one more than the failed calls of its kind right before it. */
function triesOf(calls: JudgeCall[], at: number): number {
  const { kind } = calls[at]!;
  const before = calls.slice(0, at).filter(call => call.kind === kind);
  return before.length - before.findLastIndex(({ state }) => state !== "later");
}

function Call({ call, tries, onShow }: { call: JudgeCall; tries: number; onShow: () => void }) {
  const { kind, state, reason, model, provider, promptVersion, mode, startedAt, ms, costUsd } = call;
  const tokens = call.inputTokens + call.outputTokens;
  return (
    <>
      <div className="line">
        <Badge word={judgeCallStates[state]} />
        <strong>{kinds[kind]}</strong>
        {tries > 1 && <span className="quiet small">try {tries}</span>}
        <span className="quiet small">
          <time dateTime={startedAt}>{exactClockText(startedAt)}</time>, {durationText(ms)}
        </span>
        {call.instructions === "" ? (
          <span className="quiet small">Prompt and answer dropped</span>
        ) : (
          <Button small look="link" className="call-show" onClick={onShow}>
            Prompt and answer
          </Button>
        )}
      </div>
      {reason !== null && (
        <p>
          <Long text={reason} />
        </p>
      )}
      <p className="quiet small">
        <code>{model}</code> · {providers[provider].label} · prompt {promptVersion} · {modes[mode]}
        {tokens > 0 && ` · ${usedText(call)}${call.tokensEstimated ? " (estimated)" : ""}`}
        {tokens > 0 && ` · ${costUsd === null ? "price unknown" : moneyText(costUsd)}`}
      </p>
    </>
  );
}

function CallDialog({ call, onClose }: { call: JudgeCall; onClose: () => void }) {
  const { kind, instructions, material, answer } = call;
  return (
    <Dialog
      title={`${kinds[kind]}: prompt and answer`}
      about="Exactly as sent and received. Content of the trace is only in the material, marked as data."
      onClose={onClose}
    >
      <Part title="Instructions" text={instructions} />
      <Part title="Material" text={material} />
      <Part title="Answer" text={answer} />
    </Dialog>
  );
}

function Part({ title, text }: { title: string; text: string | null }) {
  return (
    <section className="call-part" aria-label={title}>
      <div className="line line-apart">
        <h3>{title}</h3>
        {text !== null && text !== "" && <Copy text={text}>Copy</Copy>}
      </div>
      {text ? <LongText text={text} label={title} /> : <p className="quiet">No answer was received.</p>}
    </section>
  );
}
