// Judge settings of an agent: sampling and daily budgets, beside today's usage.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { JudgeSettings } from "../../src/http/judge/schemas.ts";
import { numberText } from "../format.ts";
import { counted } from "../labels.ts";
import { costText, moneyText } from "../money.ts";
import { saveJudgeSettings } from "../mutations/judge.ts";
import { readNow } from "../queries/client.ts";
import { judgeSettingsQuery, projectJudgeQuery } from "../queries/project-judge.ts";
import { SubmitRow } from "./SubmitRow.tsx";
import "../styles/judge.css";
import { EstimatedNotice } from "../ui/EstimatedNotice.tsx";
import { Field } from "../ui/Field.tsx";
import { Notice } from "../ui/Notice.tsx";
import { Loaded } from "../ui/State.tsx";
import { toast } from "../ui/Toast.tsx";
import { type Faults, useSubmit } from "./submit.ts";
import { useDraft } from "./use-draft.ts";

type JudgeSettingsProps = { projectId: string; agentId: string };

export function JudgeSettingsSection({ projectId, agentId }: JudgeSettingsProps) {
  const settings = useQuery(judgeSettingsQuery(agentId));
  return (
    <section className="card stack" aria-labelledby="judging" id="judging-settings">
      <h2 id="judging">Judge settings</h2>
      <NoJudge projectId={projectId} />
      <Loaded query={settings}>
        {data => (
          <>
            <Today projectId={projectId} agentId={agentId} settings={data} />
            <JudgeSettingsForm key={agentId} agentId={agentId} settings={data} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function NoJudge({ projectId }: { projectId: string }) {
  const { data: judge } = useQuery(projectJudgeQuery(projectId));
  if (judge?.source !== null) return null;
  return (
    <p className="quiet">
      No judge configured, so these settings have no effect yet.{" "}
      <Link to="/projects/$projectId/settings/judge" params={{ projectId }}>
        Set up a judge
      </Link>
    </p>
  );
}

type TodayProps = JudgeSettingsProps & { settings: JudgeSettings };

function Today({ projectId, agentId, settings: { budgetUsd, budgetTokens, today } }: TodayProps) {
  const tokens = today.inputTokens + today.outputTokens;
  const cost = costText(today);
  const spent = [
    budgetUsd !== null && today.costUsd >= budgetUsd && moneyText(budgetUsd),
    budgetTokens !== null && tokens >= budgetTokens && `${numberText(budgetTokens)} tokens`,
  ].find(Boolean);
  return (
    <>
      <dl className="facts">
        <dt>Today (UTC)</dt>
        <dd>
          {cost ?? "No known price"}
          {cost && budgetUsd !== null && ` of ${moneyText(budgetUsd)}`}
        </dd>
        <dt>Tokens</dt>
        <dd>
          {numberText(tokens)}
          {budgetTokens !== null && ` of ${numberText(budgetTokens)}`}
          <span className="quiet">
            {numberText(today.inputTokens)} in, {numberText(today.outputTokens)} out
          </span>
        </dd>
        <dt>Calls</dt>
        <dd>
          {numberText(today.calls)}
          {today.cached > 0 && (
            <span className="quiet">{counted(today.cached, "question")} answered from the cache</span>
          )}
        </dd>
      </dl>
      <p className="small">
        <Link to="/projects/$projectId/agents/$agentId/judging" params={{ projectId, agentId }}>
          View by day and test case
        </Link>
      </p>
      {spent && (
        <Notice tone="warn">
          <p>
            <strong>Today’s budget of {spent} is used up.</strong> Semantic checks are skipped and scenarios
            are not matched until 00:00 UTC, unless you raise the budget.
          </p>
        </Notice>
      )}
      {today.estimatedTokens > 0 && <EstimatedNotice tokens={today.estimatedTokens} />}
      {today.unpricedTokens > 0 && (
        <Notice tone="info">
          <p>
            {numberText(today.unpricedTokens)} of today’s tokens have no known price: they do not count toward
            the cost{budgetUsd !== null && budgetTokens === null && " or the budget"}.{" "}
            <Link to="/projects/$projectId/settings/prices" params={{ projectId }}>
              Add a price
            </Link>
            {budgetUsd !== null && budgetTokens === null && ", or set a budget in tokens"}
          </p>
        </Notice>
      )}
    </>
  );
}

type Saved = Pick<JudgeSettings, "sampling" | "budgetUsd" | "budgetTokens">;
/** Numbers as typed; sampling in percent. */
type Draft = Record<keyof Saved, string>;

const savedOf = ({ sampling, budgetUsd, budgetTokens }: Saved): Saved => ({
  sampling,
  budgetUsd,
  budgetTokens,
});

// Rounded to a thousandth of a percent, so that 10% is stored as 0.1.
const drafting = {
  toDraft: ({ sampling, budgetUsd, budgetTokens }: Saved): Draft => ({
    sampling: String(Math.round(sampling * 100_000) / 1000),
    budgetUsd: String(budgetUsd ?? ""),
    budgetTokens: String(budgetTokens ?? ""),
  }),
  fromDraft: ({ sampling, budgetUsd, budgetTokens }: Draft): Saved => ({
    sampling: Math.round(Number(sampling) * 1000) / 100_000,
    budgetUsd: numberOf(budgetUsd),
    budgetTokens: numberOf(budgetTokens),
  }),
};

function JudgeSettingsForm({ agentId, settings }: { agentId: string; settings: JudgeSettings }) {
  const queries = useQueryClient();
  const query = judgeSettingsQuery(agentId);
  const { draft, change, ...drafted } = useDraft(savedOf(settings), drafting, async () =>
    savedOf(await readNow(queries, query)),
  );
  const { form, faults, ...row } = useSubmit<JudgeSettings>({
    draft: drafted,
    check: (): Faults => (draft.sampling === "" ? { sampling: "Enter a number from 0 to 100." } : {}),
    send: () => saveJudgeSettings(agentId, drafting.fromDraft(draft)),
    done: saved => {
      drafted.settle(draft, savedOf(saved));
      queries.setQueryData(query.queryKey, saved);
      toast("Judge settings saved");
    },
  });
  return (
    <form {...form} className="stack">
      <Field
        label="Sampling (percent)"
        name="sampling"
        type="number"
        required
        min={0}
        max={100}
        step="any"
        value={draft.sampling}
        onChange={({ target }) => change({ sampling: target.value })}
        hint="Share of traces whose semantic checks are judged. On the others they are skipped and marked so. Scenarios are always matched."
        fault={faults["sampling"]}
      />
      <div className="judge-pair">
        <Field
          label="Daily budget in dollars (optional)"
          name="budgetUsd"
          type="number"
          min={0}
          step="any"
          value={draft.budgetUsd}
          onChange={({ target }) => change({ budgetUsd: target.value })}
          hint="Per UTC day. Calls without a known price do not count."
          fault={faults["budgetUsd"]}
        />
        <Field
          label="Daily budget in tokens (optional)"
          name="budgetTokens"
          type="number"
          min={0}
          step={1}
          value={draft.budgetTokens}
          onChange={({ target }) => change({ budgetTokens: target.value })}
          hint="Input and output together. If both budgets are set, the first one used up applies."
          fault={faults["budgetTokens"]}
        />
      </div>
      <SubmitRow {...row}>Save judge settings</SubmitRow>
    </form>
  );
}

function numberOf(text: string): number | null {
  return text.trim() === "" ? null : Number(text);
}
