// Form for a project's own judge: provider, URL, model, API key and limits.
import { useQueryClient } from "@tanstack/react-query";
import type { ProjectJudge } from "../../../src/http/judge/schemas.ts";
import type { JudgeProvider } from "../../../src/model/judge/call.ts";
import { HeaderFields } from "../../forms/HeaderFields.tsx";
import { OutdatedNotice } from "../../forms/OutdatedNotice.tsx";
import { type Faults, useSubmit } from "../../forms/submit.ts";
import { useDraft } from "../../forms/use-draft.ts";
import { saveProjectJudge } from "../../mutations/judge.ts";
import { readNow } from "../../queries/client.ts";
import { projectJudgeQuery } from "../../queries/project-judge.ts";
import { Button } from "../../ui/Button.tsx";
import { Choices, Field } from "../../ui/Field.tsx";
import { FailureNotice } from "../../ui/Notice.tsx";
import { TrialCost, TrialResult, useTrial } from "./JudgeTrial.tsx";
import { type JudgeDraft, judgeDrafting, needsNoKey, ownJudge } from "./judge-draft.ts";
import { localServers, providers } from "./providers.ts";

const choices = (Object.keys(providers) as JudgeProvider[]).map(value => ({
  value,
  label: providers[value].label,
  note: providers[value].needs,
}));

type JudgeFormProps = { projectId: string; judge: ProjectJudge; onSaved: () => void };

export function JudgeForm({ projectId, judge, onSaved }: JudgeFormProps) {
  const queries = useQueryClient();
  const query = projectJudgeQuery(projectId);
  const { draft, change, ...drafted } = useDraft(ownJudge(judge), judgeDrafting, async () =>
    ownJudge(await readNow(queries, query)),
  );
  const trial = useTrial(projectId);
  const compatible = draft.provider === "openai_compatible";

  const saving = useSubmit<ProjectJudge>({
    draft: drafted,
    send: () => saveProjectJudge(projectId, judgeDrafting.fromDraft(draft)),
    done: saved => {
      drafted.settle(draft, ownJudge(saved));
      trial.clear();
      queries.setQueryData(query.queryKey, saved);
      onSaved();
    },
  });
  const discard = () => {
    saving.draft?.discard();
    trial.clear();
  };
  // A connection test validates the same fields, so its errors are shown at them too.
  const { answer } = trial;
  const tested = answer && !answer.ok ? faultsOf(answer.failure.issues) : {};
  const faults: Faults = { ...tested, ...saving.faults };
  const shown = Object.keys(tested).length > 0 ? { ...trial, answer: undefined } : trial;

  return (
    <form {...saving.form} className="stack">
      <Choices
        label="Provider"
        name="provider"
        choices={choices}
        chosen={[draft.provider]}
        onChoose={([chosen]) => chosen && change({ provider: chosen })}
        fault={faults["provider"]}
      />
      <UrlField
        url={draft.url}
        onChange={url => change({ url })}
        compatible={compatible}
        fault={faults["url"]}
      />
      <Field
        label="Model"
        name="model"
        required
        maxLength={200}
        value={draft.model}
        onChange={({ target }) => change({ model: target.value })}
        hint="Exactly as the provider names it."
        fault={faults["model"]}
        autoComplete="off"
        spellCheck={false}
      />
      <KeyField judge={judge} draft={draft} onChange={change} fault={faults["apiKey"]} />
      <HeaderFields
        headers={draft.headers}
        onChange={headers => change({ headers })}
        faults={faults}
        hint="Only for a gateway that asks for them, such as x-portkey-provider. Stored encrypted and never shown again."
        allSecret
      />
      <LimitFields draft={draft} onChange={change} faults={faults} />
      <label className="choice">
        <input
          type="checkbox"
          name="votes"
          checked={draft.votes}
          onChange={({ target }) => change({ votes: target.checked })}
        />
        <span>
          Vote on failures{" "}
          <span className="quiet small">— asks twice more if one criterion alone fails a test</span>
        </span>
      </label>
      <FailureNotice failure={saving.failure} />
      <TrialResult projectId={projectId} trial={shown} />
      <OutdatedNotice isOutdated={drafted.isOutdated} />
      <div className="line line-apart">
        <TrialCost />
        <div className="line">
          {drafted.isChanged && <Button onClick={discard}>Discard changes</Button>}
          <Button busy={trial.busy} onClick={() => void trial.run(judgeDrafting.fromDraft(draft))}>
            Test connection
          </Button>
          <Button type="submit" look="main" busy={saving.busy}>
            Save
          </Button>
        </div>
      </div>
    </form>
  );
}

type UrlFieldProps = {
  url: string;
  onChange: (url: string) => void;
  compatible: boolean;
  fault: string | undefined;
};

function UrlField({ url, onChange, compatible, fault }: UrlFieldProps) {
  return (
    <div className="stack-tight">
      <Field
        label={compatible ? "URL" : "URL (optional)"}
        name="url"
        inputMode="url"
        required={compatible}
        value={url}
        onChange={event => onChange(event.target.value)}
        placeholder={compatible ? "http://127.0.0.1:11434/v1" : undefined}
        hint={
          compatible
            ? "Base URL of the API, usually ending in /v1, as reached from the machine that runs Onlooker."
            : "Only for a gateway. Leave empty for the provider’s own URL."
        }
        fault={fault}
        autoComplete="off"
        spellCheck={false}
      />
      {compatible && <LocalServers onChoose={onChange} />}
    </div>
  );
}

type DraftProps = { draft: JudgeDraft; onChange: (fields: Partial<JudgeDraft>) => void };
type KeyFieldProps = DraftProps & { judge: ProjectJudge; fault: string | undefined };

/** Without a stored key, one is required for the provider's own server. */
function KeyField({ judge, draft, onChange, fault }: KeyFieldProps) {
  const compatible = draft.provider === "openai_compatible";
  const hasKey = judge.source === "project" && judge.keySet;
  return (
    <div className="stack-tight">
      <Field
        label={compatible ? "API key (optional)" : "API key"}
        name="apiKey"
        type="password"
        maxLength={2_000}
        value={draft.apiKey}
        onChange={({ target }) => onChange({ apiKey: target.value })}
        required={!hasKey && !needsNoKey(draft)}
        hint={
          <>
            {hasKey && <b>{judge.keyLastFour ? `Ends in ${judge.keyLastFour}. ` : "A key is stored. "}</b>}
            {hasKey && "Leave empty to keep it. "}Stored encrypted and never shown again.
          </>
        }
        fault={fault}
        autoComplete="new-password"
        spellCheck={false}
      />
      {hasKey && needsNoKey(draft) && (
        <label className="choice">
          <input
            type="checkbox"
            name="removesKey"
            checked={draft.removesKey}
            onChange={({ target }) => onChange({ removesKey: target.checked })}
          />
          <span>Remove the stored key</span>
        </label>
      )}
    </div>
  );
}

function LimitFields({ draft, onChange, faults }: DraftProps & { faults: Faults }) {
  return (
    <div className="judge-pair">
      <Field
        label="Concurrent calls"
        name="concurrency"
        type="number"
        required
        min={1}
        max={100}
        value={draft.concurrency}
        onChange={({ target }) => onChange({ concurrency: target.value })}
        hint="Per process. Use 1 for a model on a small machine."
        fault={faults["concurrency"]}
      />
      <Field
        label="Tokens per minute (optional)"
        name="tokensPerMinute"
        type="number"
        min={1_000}
        max={1_000_000_000}
        value={draft.tokensPerMinute}
        onChange={({ target }) => onChange({ tokensPerMinute: target.value })}
        hint="Input and output combined, per process. Stay below the provider’s limit."
        fault={faults["tokensPerMinute"]}
      />
    </div>
  );
}

function LocalServers({ onChoose }: { onChoose: (url: string) => void }) {
  return (
    <div className="judge-examples small">
      <span className="quiet">On the same machine:</span>
      {localServers.map(({ name, url }) => (
        <Button key={name} look="link" title={url} onClick={() => onChoose(url)}>
          {name}
        </Button>
      ))}
    </div>
  );
}

function faultsOf(issues: { path: string; message: string }[] = []): Faults {
  return Object.fromEntries(issues.map(({ path, message }) => [path, message]).reverse());
}
