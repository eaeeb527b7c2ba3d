// A project's own judge: whose model, where it answers, its key, and how much may be asked of it at a time.

import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { ProjectJudge } from "../../../src/http/judge/schemas.ts";
import type { JudgeProvider } from "../../../src/model/judge/call.ts";
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
  const trial = useTrial(projectId);
  const element = useRef<HTMLFormElement>(null);
  const compatible = provider === "openai_compatible";
  const hasKey = own && judge.keySet;

  const documentOf = (fields: FormData) => ({
    provider,
    url: url.trim() || null,
    model: textOf(fields, "model"),
    ...keyOf(textOf(fields, "apiKey"), fields.has("removesKey")),
    concurrency: Number(textOf(fields, "concurrency")),
    tokensPerMinute: textOf(fields, "tokensPerMinute") ? Number(textOf(fields, "tokensPerMinute")) : null,
  });
  const saving = useSubmit<ProjectJudge>({
    send: fields => saveProjectJudge(projectId, documentOf(fields)),
    done: saved => {
      // What was said of the key is done, and what was typed is not kept here either.
      for (const input of element.current!.querySelectorAll("input")) {
        if (input.name === "apiKey") input.value = "";
        if (input.name === "removesKey") input.checked = false;
      }
      trial.clear();
      queries.setQueryData(projectJudgeQuery(projectId).queryKey, saved);
      onSaved(saved);
    },
  });
  // The same form, sent to be tried: its faults belong to the same fields.
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
      <div className="stack-tight">
        <Field
          label={compatible ? "Address" : "Address (optional)"}
          name="url"
          inputMode="url"
          required={compatible}
          value={url}
          onChange={event => setUrl(event.target.value)}
          placeholder={compatible ? "http://127.0.0.1:11434/v1" : undefined}
          hint={
            compatible
              ? "The base of its API, usually ending in /v1, as the machine that runs Onlooker reaches it."
              : "Only for a gateway in between; empty is the provider’s own."
          }
          fault={faults["url"]}
          autoComplete="off"
          spellCheck={false}
        />
        {compatible && <LocalServers onChoose={setUrl} />}
      </div>
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
      <div className="stack-tight">
        <Field
          label={compatible ? "API key (optional)" : "API key"}
          name="apiKey"
          type="password"
          maxLength={2_000}
          required={!compatible && !hasKey && url.trim() === ""}
          hint={
            <>
              {hasKey && <b>{judge.keyLastFour ? `Ends in ${judge.keyLastFour}. ` : "One is stored. "}</b>}
              {hasKey && "Leave it empty to keep it. "}Encrypted where it rests, and never shown again.
            </>
          }
          fault={faults["apiKey"]}
          autoComplete="new-password"
          spellCheck={false}
        />
        {hasKey && (compatible || url.trim() !== "") && (
          <label className="choice">
            <input type="checkbox" name="removesKey" />
            <span>Remove the stored key</span>
          </label>
        )}
      </div>
      <div className="judge-pair">
        <Field
          label="Calls at a time"
          name="concurrency"
          type="number"
          required
          min={1}
          max={100}
          defaultValue={(own && judge.concurrency) || 8}
          hint="In each process. One for a model on a small machine."
          fault={faults["concurrency"]}
        />
        <Field
          label="Tokens per minute (optional)"
          name="tokensPerMinute"
          type="number"
          min={1_000}
          max={1_000_000_000}
          defaultValue={(own && judge.tokensPerMinute) || ""}
          hint="In and out together, in each process. Stay below the provider’s limit."
          fault={faults["tokensPerMinute"]}
        />
      </div>
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

/** Without `apiKey` the stored one is kept. */
function keyOf(typed: string, removes: boolean): { apiKey?: string | null } {
  if (typed !== "") return { apiKey: typed };
  return removes ? { apiKey: null } : {};
}

function faultsOf(issues: { path: string; message: string }[] = []): Faults {
  return Object.fromEntries(issues.map(({ path, message }) => [path, message]).reverse());
}
