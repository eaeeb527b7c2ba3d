// Tries a judge on all labels before it is switched: how many answers would change, and which.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import type { LabelTrial } from "../../../src/http/judge/label-schemas.ts";
import type { ProjectJudge } from "../../../src/http/judge/schemas.ts";
import type { JudgeProvider } from "../../../src/model/judge/call.ts";
import type { Failure } from "../../api.ts";
import { type Faults, textOf } from "../../forms/submit.ts";
import { counted } from "../../labels.ts";
import { tryLabels } from "../../mutations/labels.ts";
import type { LabelScope } from "../../queries/labels.ts";
import { projectJudgeQuery } from "../../queries/project-judge.ts";
import { Button } from "../../ui/Button.tsx";
import { Choices, Field } from "../../ui/Field.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { providers } from "../project/providers.ts";
import { answerTexts } from "./agreement.ts";

type Tried = LabelTrial["items"];
type State = { busy: boolean; tried: Tried; isDone: boolean; failure?: Failure; unavailable?: string };

export function TryJudge({ scope, labels }: { scope: LabelScope; labels: number }) {
  const judge = useQuery(projectJudgeQuery(scope.projectId));
  return (
    <section className="card stack" aria-labelledby="labels-try">
      <div className="stack-tight">
        <h2 id="labels-try">Try a judge</h2>
        <p className="quiet">
          Asks another model what was asked when the labels were given. Nothing is switched; each label costs
          about one call, counted for its agent.
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
  const [state, setState] = useState<State>({ busy: false, tried: [], isDone: false });
  const stopping = useRef(false);
  useEffect(() => {
    stopping.current = false;
    return () => {
      stopping.current = true;
    };
  }, []);
  const compatible = provider === "openai_compatible";

  const run = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (state.busy) return;
    const fields = new FormData(event.currentTarget);
    const apiKey = textOf(fields, "apiKey");
    const connection = {
      ...{ provider, url: textOf(fields, "url") || null, model: textOf(fields, "model") },
      ...(apiKey && { apiKey }),
    };
    stopping.current = false;
    const tried: Tried = [];
    setState({ busy: true, tried, isDone: false });
    for (let cursor: string | undefined; ; ) {
      const answer = await tryLabels(scope, { connection, cursor });
      if (!answer.ok) return setState({ busy: false, tried, isDone: false, failure: answer.failure });
      const { items, nextCursor, unavailable } = answer.value;
      tried.push(...items);
      if (unavailable !== null) return setState({ busy: false, tried, isDone: false, unavailable });
      if (nextCursor === null) return setState({ busy: false, tried, isDone: true });
      if (stopping.current) return setState({ busy: false, tried, isDone: false });
      cursor = nextCursor;
      setState({ busy: true, tried: [...tried], isDone: false });
    }
  };
  const faults: Faults = Object.fromEntries(
    (state.failure?.issues ?? []).map(({ path, message }) => [path, message]),
  );
  const hasFaults = Object.keys(faults).length > 0;

  return (
    <form className="stack" onSubmit={event => void run(event)}>
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
      <div className="line">
        <Button type="submit" look="main" busy={state.busy}>
          {`Try on ${counted(labels, "label")}`}
        </Button>
        {state.busy && (
          <Button
            onClick={() => {
              stopping.current = true;
            }}
          >
            Stop
          </Button>
        )}
      </div>
      {!hasFaults && <FailureNotice failure={state.failure} />}
      {state.unavailable !== undefined && (
        <Notice tone="warn" role="alert">
          <p>{state.unavailable}</p>
        </Notice>
      )}
      <Outcome state={state} labels={labels} projectId={scope.projectId} />
    </form>
  );
}

function Outcome({ state, labels, projectId }: { state: State; labels: number; projectId: string }) {
  const { busy, tried, isDone } = state;
  const changed = tried.filter(one => one.changed);
  const undecided = tried.filter(({ now }) => now === null);
  const fixed = changed.filter(({ answer, now }) => (now === "unsure" ? "match" : now) === answer).length;
  return (
    <div className="stack-tight">
      <div role="status">
        {busy && (
          <p className="quiet">
            {tried.length} of {counted(labels, "label")}…
          </p>
        )}
        {tried.length > 0 && !busy && (
          <p>
            <strong>
              Would change {changed.length} of {tried.length}
            </strong>
            : {fixed} to the person’s answer, {changed.length - fixed} away from it.
            {undecided.length > 0 && ` Undecided: ${undecided.length}.`}
            {!isDone && " Not all labels were tried."}
            {isDone && tried.length < labels && ` ${labels - tried.length} cannot be asked again.`}
          </p>
        )}
        {isDone && tried.length === 0 && <p>None of these labels can be asked again.</p>}
      </div>
      {!busy && changed.length > 0 && (
        <ul className="labels-list" aria-label="Answers that would change">
          {changed.map(one => (
            <li key={one.id}>
              <Link
                to="/projects/$projectId/agents/$agentId/traces/$traceId"
                params={{ projectId, agentId: one.agentId, traceId: one.traceId }}
                search={{
                  run: one.runId,
                  test: one.testId,
                  ...(one.checkId !== null && { check: one.checkId }),
                }}
              >
                <bdi>{one.testName}</bdi>
                {one.checkId === null ? ", scenario" : `, check “${one.checkId}”`}
              </Link>
              : {answerTexts[one.judged]} → <strong>{one.now && answerTexts[one.now]}</strong>, should be{" "}
              {answerTexts[one.answer]}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
