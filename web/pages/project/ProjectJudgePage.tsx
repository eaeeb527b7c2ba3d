// The judge of a project: the current one with a connection test, and the form for the project's own.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ProjectJudge } from "../../../src/http/judge/schemas.ts";
import type { Failure } from "../../api.ts";
import { deleteProjectJudge } from "../../mutations/judge.ts";
import { projectJudgeQuery } from "../../queries/project-judge.ts";
import "../../styles/judge.css";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { LowCountNotice } from "../../ui/LowCountNotice.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { ClockTime, RelativeTime } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { JudgeForm } from "./JudgeForm.tsx";
import { TrialButton } from "./JudgeTrial.tsx";
import { NoJudgeConfigured } from "./NoJudgeConfigured.tsx";
import { ProjectFrame } from "./ProjectFrame.tsx";
import { modes, providers } from "./providers.ts";

const route = getRouteApi("/member/projects/$projectId/settings/judge");

export function ProjectJudgePage() {
  const { projectId } = route.useParams();
  const judge = useQuery(projectJudgeQuery(projectId));
  return (
    <ProjectFrame part="Judge">
      <p className="quiet">
        The judge is a language model. It decides whether a trace matches a test’s scenario and whether a
        reply meets semantic criteria.
      </p>
      <Loaded query={judge}>{data => <Judge key={projectId} projectId={projectId} judge={data} />}</Loaded>
    </ProjectFrame>
  );
}

function Judge({ projectId, judge }: { projectId: string; judge: ProjectJudge }) {
  const [isOverriding, setOverriding] = useState(false);
  /** Removing the judge empties the form. */
  const [removals, setRemovals] = useState(0);
  const own = judge.source === "project";
  const inherits = judge.source === "environment" && !isOverriding;
  return (
    <>
      <section className="card stack" aria-labelledby="judge-now">
        <h2 id="judge-now">Current judge</h2>
        <CurrentJudge judge={judge} />
        {judge.source === "environment" && <TrialButton projectId={projectId} />}
        {inherits && (
          <div>
            <Button onClick={() => setOverriding(true)}>Use a different judge</Button>
          </div>
        )}
      </section>
      {!inherits && (
        <section className="card stack" aria-labelledby="judge-own">
          <h2 id="judge-own">{own ? "Connection" : "Judge for this project"}</h2>
          <JudgeForm
            key={removals}
            projectId={projectId}
            judge={judge}
            onSaved={() => {
              toast("Judge saved");
              setOverriding(false);
            }}
          />
        </section>
      )}
      {own && <Removal projectId={projectId} judge={judge} onRemoved={() => setRemovals(removals + 1)} />}
      <p className="quiet small">
        Compare its answers with people’s under{" "}
        <Link to="/projects/$projectId/settings/labels" params={{ projectId }}>
          Labels
        </Link>
        . Set token prices under{" "}
        <Link to="/projects/$projectId/settings/prices" params={{ projectId }}>
          Prices
        </Link>
        , and sampling and daily budgets in each agent’s settings.
      </p>
    </>
  );
}

function CurrentJudge({ judge }: { judge: ProjectJudge }) {
  const { source, provider, host, model, mode, testedAt, pausedReason, waiting, lowCount } = judge;
  if (source === null || provider === null) return <NoJudgeConfigured />;
  return (
    <>
      <dl className="facts">
        <dt>Model</dt>
        <dd>
          <code>{model}</code>
        </dd>
        <dt>Server</dt>
        <dd>
          <code>{host}</code> <span className="quiet">{providers[provider].label}</span>
        </dd>
        {source === "project" && (
          <>
            <dt>Key</dt>
            <dd>{keyText(judge)}</dd>
          </>
        )}
        <dt>Answer format</dt>
        <dd>{mode ? modes[mode] : <span className="quiet">Unknown until tested</span>}</dd>
        <dt>Last tested</dt>
        <dd>{testedAt ? <RelativeTime at={testedAt} /> : <span className="quiet">Never</span>}</dd>
      </dl>
      {source === "environment" && (
        <p className="quiet">
          Set in the service’s environment, for every project without its own judge. The operator of the
          service pays for it.
        </p>
      )}
      {waiting !== null && pausedReason === null && (
        <Notice tone="info">
          <p>
            <strong>
              Not called until <ClockTime at={waiting.until} />.
            </strong>{" "}
            {waiting.reason}
          </p>
          {source === "project" && <p>To call it now, test or edit the connection.</p>}
        </Notice>
      )}
      <LowCountNotice lowCount={lowCount} />
      {pausedReason !== null && (
        <Notice tone="warn">
          <p>
            <strong>Paused.</strong> {pausedReason}
          </p>
          <p>
            The judge is not used until{" "}
            {source === "project" ? "you edit the connection or a test succeeds" : "a test succeeds"}. Checks
            that need it are skipped until then.
          </p>
        </Notice>
      )}
    </>
  );
}

export function keyText({ keySet, keyLastFour }: ProjectJudge): string {
  if (!keySet) return "None";
  return keyLastFour ? `Ends in ${keyLastFour}` : "Stored";
}

type RemovalProps = { projectId: string; judge: ProjectJudge; onRemoved: () => void };

function Removal({ projectId, judge, onRemoved }: RemovalProps) {
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const after = judge.environment
    ? `The judge from the environment, ${judge.environment.model}, is used instead.`
    : "Without a judge, semantic checks are skipped and “Run when relevant” tests do not run.";
  const ask = () => {
    setFailure(undefined);
    setAsking(true);
  };
  const remove = async () => {
    setBusy(true);
    setFailure(undefined);
    const answer = await deleteProjectJudge(projectId);
    setBusy(false);
    if (!answer.ok) return setFailure(answer.failure);
    setAsking(false);
    toast("Judge removed");
    await queries.invalidateQueries({ queryKey: projectJudgeQuery(projectId).queryKey });
    onRemoved();
  };
  return (
    <section className="card stack" aria-labelledby="judge-remove">
      <h2 id="judge-remove">Remove judge</h2>
      <p className="quiet">Also deletes its API key. {after}</p>
      <div>
        <Button icon="trash" onClick={ask}>
          Remove judge…
        </Button>
      </div>
      {asking && (
        <Dialog
          title="Remove judge"
          about={`Also deletes its API key. ${after}`}
          alert
          onClose={() => setAsking(false)}
        >
          <FailureNotice failure={failure} />
          <div className="line line-end">
            <Button onClick={() => setAsking(false)}>Cancel</Button>
            <Button look="danger" busy={busy} onClick={() => void remove()}>
              Remove judge
            </Button>
          </div>
        </Dialog>
      )}
    </section>
  );
}
