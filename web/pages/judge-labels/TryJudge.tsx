// Tries a judge on all labels before it is switched: what it costs, how many answers would change, and which.
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { LabelTrial } from "../../../src/http/judge/label-schemas.ts";
import type { ProjectJudge } from "../../../src/http/judge/schemas.ts";
import type { JudgeProvider } from "../../../src/model/judge/call.ts";
import { HeaderFields } from "../../forms/HeaderFields.tsx";
import { sentHeaders, storedHeaders } from "../../forms/judge-headers.ts";
import { type Faults, textOf } from "../../forms/submit.ts";
import { useUnsavedChanges } from "../../forms/unsaved.ts";
import { counted } from "../../labels.ts";
import { estimateText } from "../../money.ts";
import type { LabelScope } from "../../queries/labels.ts";
import { projectJudgeQuery } from "../../queries/project-judge.ts";
import { isSameJson } from "../../same-json.ts";
import { Button } from "../../ui/Button.tsx";
import { Choices, Field } from "../../ui/Field.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { providers } from "../project/providers.ts";
import { LabelItem } from "./LabelItem.tsx";
import { type LabelTrialState, useLabelTrial } from "./use-label-trial.ts";

export function TryJudge({ scope, labels }: { scope: LabelScope; labels: number }) {
  const judge = useQuery(projectJudgeQuery(scope.projectId));
  return (
    <section className="card stack" aria-labelledby="labels-try">
      <div className="stack-tight">
        <h2 id="labels-try">Try a judge</h2>
        <p className="quiet">
          Asks another model the questions behind these labels. The cost is estimated first. The project keeps
          its judge; calls count toward the usage of the labeled agents.
        </p>
      </div>
      <Loaded query={judge}>{data => <TryForm judge={data} scope={scope} labels={labels} />}</Loaded>
    </section>
  );
}

type TryFormProps = { judge: ProjectJudge; scope: LabelScope; labels: number };

function TryForm({ judge, scope, labels }: TryFormProps) {
  const own = judge.source === "project";
  const [provider, setProvider] = useState<JudgeProvider>((own && judge.provider) || "openai");
  const [stored] = useState(() => storedHeaders(own ? judge.headers : []));
  const [headers, setHeaders] = useState(stored);
  const [isTyped, setTyped] = useState(false);
  const trial = useLabelTrial(scope);
  const { state } = trial;
  const compatible = provider === "openai_compatible";
  const isBusy = state.step === "estimating" || state.step === "asking";
  // Once all labels were tried, the connection has served its purpose.
  useUnsavedChanges((isTyped || !isSameJson(headers, stored)) && !(state.step === "asked" && state.isDone));

  const estimate = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    const fields = new FormData(event.currentTarget);
    const apiKey = textOf(fields, "apiKey");
    void trial.estimate({
      ...{ provider, url: textOf(fields, "url") || null, model: textOf(fields, "model") },
      ...{ headers: sentHeaders(headers), ...(apiKey && { apiKey }) },
    });
  };
  // An estimate is for what was typed then.
  const outdate = () => {
    if (!isBusy && state.step !== "idle") trial.clear();
  };
  const failure = state.step === "failed" ? state.failure : undefined;
  const faults: Faults = Object.fromEntries(
    (failure?.issues ?? []).map(({ path, message }) => [path, message]),
  );

  return (
    <form
      className="stack"
      onSubmit={estimate}
      onChange={({ currentTarget }) => {
        setTyped(connectionFields.some(name => isChanged(currentTarget.elements.namedItem(name))));
        outdate();
      }}
    >
      <Choices
        label="Provider"
        name="provider"
        choices={(Object.keys(providers) as JudgeProvider[]).map(value => ({
          value,
          label: providers[value].label,
        }))}
        chosen={[provider]}
        onChoose={([chosen]) => chosen && setProvider(chosen)}
        fault={faults["provider"]}
      />
      <Field
        label={compatible ? "URL" : "URL (optional)"}
        name="url"
        inputMode="url"
        required={compatible}
        defaultValue={(own && judge.url) || ""}
        fault={faults["url"]}
        autoComplete="off"
        spellCheck={false}
      />
      <Field
        label="Model"
        name="model"
        required
        maxLength={200}
        defaultValue={judge.model ?? ""}
        fault={faults["model"]}
        autoComplete="off"
        spellCheck={false}
      />
      <Field
        label="API key (optional)"
        name="apiKey"
        type="password"
        maxLength={2_000}
        hint={own ? "Leave empty to use the stored key at the same server." : "Not stored."}
        fault={faults["apiKey"]}
        autoComplete="new-password"
        spellCheck={false}
      />
      <HeaderFields
        headers={headers}
        onChange={changed => {
          setHeaders(changed);
          outdate();
        }}
        faults={faults}
        hint={`Only for a gateway that asks for them. ${own ? "Leave a stored value empty to use it at the same server." : "Not stored."}`}
        allSecret
      />
      <div className="line">
        <Button type="submit" busy={state.step === "estimating"}>
          Estimate cost
        </Button>
        {isBusy && <Button onClick={trial.stop}>Stop</Button>}
      </div>
      {Object.keys(faults).length === 0 && <FailureNotice failure={failure} />}
      {state.step === "estimated" && (
        <Estimated
          {...state}
          all={labels}
          onStart={() => void trial.ask(state.connection)}
          onCancel={trial.clear}
        />
      )}
      {state.step === "unavailable" && (
        <Notice tone="warn" role="alert">
          <p>{state.reason}</p>
        </Notice>
      )}
      <Outcome state={state} labels={labels} projectId={scope.projectId} />
    </form>
  );
}

const connectionFields = ["url", "model", "apiKey"];

function isChanged(field: Element | RadioNodeList | null): boolean {
  return field instanceof HTMLInputElement && field.value !== field.defaultValue;
}

type EstimatedProps = {
  estimate: NonNullable<LabelTrial["estimate"]>;
  /** How many can be asked again, of all. */
  labels: number;
  all: number;
  onStart: () => void;
  onCancel: () => void;
};

function Estimated({ estimate, labels, all, onStart, onCancel }: EstimatedProps) {
  if (labels === 0) return <p role="status">None of these labels can be asked again.</p>;
  return (
    <div className="stack-tight">
      <p role="status">
        {labels < all && `${labels} of ${counted(all, "label")} can be asked again. `}
        {estimate.calls === 0
          ? "All answers of this judge are cached, so this costs nothing."
          : `The judge needs ${estimateText(estimate)}`}
      </p>
      <div className="line">
        <Button look="main" onClick={onStart}>
          {`Try on ${counted(labels, "label")}`}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </div>
  );
}

function Outcome({
  state,
  labels,
  projectId,
}: {
  state: LabelTrialState;
  labels: number;
  projectId: string;
}) {
  if (!("tried" in state)) return null;
  const { step, tried } = state;
  const changed = tried.filter(one => one.changed);
  const undecided = tried.filter(({ now }) => now === null);
  const fixed = changed.filter(({ answer, now }) => (now === "unsure" ? "match" : now) === answer).length;
  return (
    <div className="stack-tight">
      <div role="status">
        {step === "asking" && (
          <p className="quiet">
            {tried.length} of {counted(labels, "label")}…
          </p>
        )}
        {tried.length > 0 && step !== "asking" && (
          <p>
            <strong>
              Would change {changed.length} of {tried.length}
            </strong>
            : {fixed} to the person’s answer, {changed.length - fixed} away from it.
            {undecided.length > 0 && ` Undecided: ${undecided.length}.`}
            {!(step === "asked" && state.isDone) && " Not all labels were tried."}
          </p>
        )}
      </div>
      {step !== "asking" && changed.length > 0 && (
        <ul className="labels-list" aria-label="Answers that would change">
          {changed.map(one => (
            <LabelItem key={one.id} label={one} projectId={projectId} />
          ))}
        </ul>
      )}
    </div>
  );
}
