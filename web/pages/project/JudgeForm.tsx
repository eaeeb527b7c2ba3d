// Form for a project's own judge: provider, URL, model, API key and limits.
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { ProjectJudge } from "../../../src/http/judge/schemas.ts";
import type { JudgeProvider } from "../../../src/model/judge/call.ts";
import { HeaderFields } from "../../forms/HeaderFields.tsx";
import { sentHeaders, storedHeaders } from "../../forms/judge-headers.ts";
import { type Faults, textOf, useSubmit } from "../../forms/submit.ts";
import { saveProjectJudge } from "../../mutations/judge.ts";
import { projectJudgeQuery } from "../../queries/project-judge.ts";
import { Button } from "../../ui/Button.tsx";
import { Choices, Field } from "../../ui/Field.tsx";
import { FailureNotice } from "../../ui/Notice.tsx";
import { TrialCost, TrialResult, useTrial } from "./JudgeTrial.tsx";
import { localServers, providers } from "./providers.ts";

const choices = (Object.keys(providers) as JudgeProvider[]).map(value => ({
  value,
  label: providers[value].label,
  note: providers[value].needs,
}));

type JudgeFormProps = { projectId: string; judge: ProjectJudge; onSaved: (judge: ProjectJudge) => void };

export function JudgeForm({ projectId, judge, onSaved }: JudgeFormProps) {
  const queries = useQueryClient();
  const own = judge.source === "project";
  const [provider, setProvider] = useState<JudgeProvider>((own && judge.provider) || "openai");
  const [url, setUrl] = useState((own && judge.url) || "");
  const [headers, setHeaders] = useState(() => storedHeaders(own ? judge.headers : []));
  const trial = useTrial(projectId);
  const element = useRef<HTMLFormElement>(null);
  const compatible = provider === "openai_compatible";

  const documentOf = (fields: FormData) => ({
    provider,
    url: url.trim() || null,
    model: textOf(fields, "model"),
    ...keyOf(textOf(fields, "apiKey"), fields.has("removesKey")),
    headers: sentHeaders(headers),
    concurrency: Number(textOf(fields, "concurrency")),
    tokensPerMinute: textOf(fields, "tokensPerMinute") ? Number(textOf(fields, "tokensPerMinute")) : null,
  });
  const saving = useSubmit<ProjectJudge>({
    send: fields => saveProjectJudge(projectId, documentOf(fields)),
    done: saved => {
      // The key is saved, so clear it from the form.
      for (const input of element.current!.querySelectorAll("input")) {
        if (input.name === "apiKey") input.value = "";
        if (input.name === "removesKey") input.checked = false;
      }
      setHeaders(storedHeaders(saved.headers));
      trial.clear();
      queries.setQueryData(projectJudgeQuery(projectId).queryKey, saved);
      onSaved(saved);
    },
  });
  // A connection test validates the same fields, so its errors are shown at them too.
  const { answer } = trial;
  const tested = answer && !answer.ok ? faultsOf(answer.failure.issues) : {};
  const faults: Faults = { ...tested, ...saving.faults };
  const shown = Object.keys(tested).length > 0 ? { ...trial, answer: undefined } : trial;

  return (
    <form {...saving.form} ref={element} className="stack">
      <Choices
        label="Provider"
        name="provider"
        choices={choices}
        chosen={[provider]}
        onChoose={([chosen]) => chosen && setProvider(chosen)}
        fault={faults["provider"]}
      />
      <UrlField url={url} onChange={setUrl} compatible={compatible} fault={faults["url"]} />
      <Field
        label="Model"
        name="model"
        required
        maxLength={200}
        defaultValue={(own && judge.model) || ""}
        hint="Exactly as the provider names it."
        fault={faults["model"]}
        autoComplete="off"
        spellCheck={false}
      />
      <KeyField judge={judge} compatible={compatible} hasUrl={url.trim() !== ""} fault={faults["apiKey"]} />
      <HeaderFields
        headers={headers}
        onChange={setHeaders}
        faults={faults}
        hint="Only for a gateway that asks for them, such as x-portkey-provider. Stored encrypted and never shown again."
        allSecret
      />
      <LimitFields judge={judge} faults={faults} />
      <FailureNotice failure={saving.failure} />
      <TrialResult projectId={projectId} trial={shown} />
      <div className="line line-apart">
        <TrialCost />
        <div className="line">
          <Button
            busy={trial.busy}
            onClick={() => void trial.run(documentOf(new FormData(element.current ?? undefined)))}
          >
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

type KeyFieldProps = { judge: ProjectJudge; compatible: boolean; hasUrl: boolean; fault: string | undefined };

/** Without a stored key, one is required for the provider's own server. */
function KeyField({ judge, compatible, hasUrl, fault }: KeyFieldProps) {
  const hasKey = judge.source === "project" && judge.keySet;
  return (
    <div className="stack-tight">
      <Field
        label={compatible ? "API key (optional)" : "API key"}
        name="apiKey"
        type="password"
        maxLength={2_000}
        required={!compatible && !hasKey && !hasUrl}
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
      {hasKey && (compatible || hasUrl) && (
        <label className="choice">
          <input type="checkbox" name="removesKey" />
          <span>Remove the stored key</span>
        </label>
      )}
    </div>
  );
}

function LimitFields({ judge, faults }: { judge: ProjectJudge; faults: Faults }) {
  const own = judge.source === "project";
  return (
    <div className="judge-pair">
      <Field
        label="Concurrent calls"
        name="concurrency"
        type="number"
        required
        min={1}
        max={100}
        defaultValue={(own && judge.concurrency) || 8}
        hint="Per process. Use 1 for a model on a small machine."
        fault={faults["concurrency"]}
      />
      <Field
        label="Tokens per minute (optional)"
        name="tokensPerMinute"
        type="number"
        min={1_000}
        max={1_000_000_000}
        defaultValue={(own && judge.tokensPerMinute) || ""}
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

/** Without `apiKey`, the service keeps the stored key. */
function keyOf(typed: string, removes: boolean): { apiKey?: string | null } {
  if (typed !== "") return { apiKey: typed };
  return removes ? { apiKey: null } : {};
}

function faultsOf(issues: { path: string; message: string }[] = []): Faults {
  return Object.fromEntries(issues.map(({ path, message }) => [path, message]).reverse());
}
