// Which judge there is, whether it answers, and how to give the service one.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { JudgeTrial } from "../../../src/http/judge/schemas.ts";
import type { Answer } from "../../api.ts";
import { testEnvironmentJudge } from "../../mutations/judge.ts";
import { judgeQuery } from "../../queries/judge.ts";
import { useProject } from "../../shell/project.ts";
import { Button } from "../../ui/Button.tsx";
import { Copy } from "../../ui/Copy.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";

const environment = [
  "SVC_JUDGE_URL=https://api.example.com/v1",
  "SVC_JUDGE_MODEL=name-of-the-model",
  "SVC_JUDGE_API_KEY=key-if-the-server-wants-one",
  "",
].join("\n");

export function SettingsJudge() {
  const judge = useQuery(judgeQuery);
  return (
    <section className="card stack">
      <h2>Judge</h2>
      <p className="quiet">
        A language model that decides whether a conversation fits a test’s scenario, and whether a reply meets
        semantic criteria. This one is set where the service is started, for every project that has none of
        its own.
      </p>
      <OwnJudges />
      <Loaded query={judge}>
        {({ configured, host, model }) =>
          configured ? (
            <>
              <dl className="facts">
                <dt>Server</dt>
                <dd>
                  <code>{host}</code>
                </dd>
                <dt>Model</dt>
                <dd>
                  <code>{model}</code>
                </dd>
              </dl>
              <Trial />
            </>
          ) : (
            <NoJudge />
          )
        }
      </Loaded>
    </section>
  );
}

/** Where projects say otherwise. */
function OwnJudges() {
  const project = useProject();
  if (!project) return null;
  return (
    <p>
      <Link to="/projects/$projectId/settings/judge" params={{ projectId: project.id }}>
        The judge of “<bdi>{project.name}</bdi>”
      </Link>
    </p>
  );
}

/** Puts tiny questions when it is asked to, and says what came of it. */
function Trial() {
  const [busy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<Answer<JudgeTrial>>();
  const test = async () => {
    setBusy(true);
    setAnswer(undefined);
    setAnswer(await testEnvironmentJudge());
    setBusy(false);
  };
  return (
    <>
      <div className="line">
        <Button busy={busy} onClick={() => void test()}>
          Test connection
        </Button>
        <span className="quiet small">Two short questions; some thousand tokens at most.</span>
      </div>
      <div role="status" className="stack">
        {busy && <p className="quiet">Waiting for its answer…</p>}
        {answer?.ok && (
          <Notice tone={answer.value.ok ? "good" : "warn"}>
            <p>{answer.value.reason}</p>
            <p className="quiet small">{secondsText(answer.value.ms)}</p>
          </Notice>
        )}
      </div>
      {answer && !answer.ok && <FailureNotice failure={answer.failure} />}
    </>
  );
}

function NoJudge() {
  return (
    <>
      <Notice tone="info">
        <p>
          <strong>No judge is configured.</strong> Semantic checks are skipped, and tests that run when
          relevant do not run: routing is unavailable. Everything else is judged as ever.
        </p>
      </Notice>
      <p>
        Give a project a judge of its own, or start the service with these variables, for any server that
        speaks OpenAI’s chat completions; one on this machine will do. Where evaluation has processes of its
        own, they need them too.
      </p>
      <textarea
        className="input secret mono"
        aria-label="Environment variables of the judge"
        readOnly
        rows={4}
        value={environment}
      />
      <div>
        <Copy text={environment}>Copy</Copy>
      </div>
    </>
  );
}

function secondsText(ms: number): string {
  return ms < 1_000 ? `After ${ms} ms` : `After ${(ms / 1_000).toFixed(1)} s`;
}
