// Who judges the project's traces: what is in force, whether it answers, and a judge of the project's own.

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
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { JudgeForm } from "./JudgeForm.tsx";
import { TrialButton } from "./JudgeTrial.tsx";
import { ProjectFrame } from "./ProjectFrame.tsx";
import { modes, providers } from "./providers.ts";

const route = getRouteApi("/member/projects/$projectId/settings/judge");

export function ProjectJudgePage() {
  const { projectId } = route.useParams();
  const judge = useQuery(projectJudgeQuery(projectId));
  return (
    <ProjectFrame part="Judge">
      <p className="quiet">
        A language model that decides whether a conversation fits a test’s scenario, and whether a reply meets
        semantic criteria.
      </p>
      <Loaded query={judge}>{data => <Judge key={projectId} projectId={projectId} judge={data} />}</Loaded>
    </ProjectFrame>
  );
}

function Judge({ projectId, judge }: { projectId: string; judge: ProjectJudge }) {
  const [choosing, setChoosing] = useState(false);
  // What the form begins from: reading again leaves it alone, and removing the judge begins another.
  const [begun, setBegun] = useState({ serial: 0, judge });
  const own = judge.source === "project";
  const inherits = judge.source === "environment" && !choosing;
  return (
    <>
      <section className="card stack" aria-labelledby="judge-now">
        <h2 id="judge-now">In force</h2>
        <InForce judge={judge} />
        {judge.source === "environment" && <TrialButton projectId={projectId} />}
        {inherits && (
          <div>
            <Button onClick={() => setChoosing(true)}>Use another judge for this project</Button>
          </div>
        )}
      </section>
      {!inherits && (
        <section className="card stack" aria-labelledby="judge-own">
          <h2 id="judge-own">{own ? "Connection" : "A judge for this project"}</h2>
          <JudgeForm
            key={begun.serial}
            projectId={projectId}
            judge={own ? begun.judge : judge}
            onSaved={saved => {
              toast("The judge is saved.");
              setBegun({ ...begun, judge: saved });
              setChoosing(false);
            }}
          />
        </section>
      )}
      {own && (
        <Removal
          projectId={projectId}
          judge={judge}
          onRemoved={() => setBegun({ ...begun, serial: begun.serial + 1 })}
        />
      )}
      <p className="quiet small">
        Prices are under{" "}
        <Link to="/projects/$projectId/settings/prices" params={{ projectId }}>
          Prices
        </Link>
        ; each agent’s sampling and daily budget under its settings.
      </p>
    </>
  );
}

function InForce({ judge }: { judge: ProjectJudge }) {
  const { source, provider, host, model, mode, testedAt, pausedReason } = judge;
  if (source === null || provider === null) {
    return (
      <Notice tone="info">
        <p>
          <strong>No judge.</strong> Semantic checks are skipped, and tests that run when relevant are not
          judged. Everything else is judged as ever.
        </p>
      </Notice>
    );
  }
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
        <dt>Answers by</dt>
        <dd>{mode ? modes[mode] : <span className="quiet">Not known yet</span>}</dd>
        <dt>Tested</dt>
        <dd>{testedAt ? <RelativeTime at={testedAt} /> : <span className="quiet">Never</span>}</dd>
      </dl>
      {source === "environment" && (
        <p className="quiet">
          From the service’s environment, for every project that has no judge of its own. Whoever runs the
          service sets and pays it.
        </p>
      )}
      {pausedReason !== null && (
        <Notice tone="warn">
          <p>
            <strong>Paused.</strong> {pausedReason}
          </p>
          <p>
            It is not asked again until{" "}
            {source === "project"
              ? "the connection is edited or a test of it succeeds"
              : "a test of it succeeds"}
            . Checks that need it are skipped meanwhile.
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
    ? `Traces are judged by ${judge.environment.model} of the environment then.`
    : "There is no judge then: semantic checks are skipped, and tests that run when relevant are not judged.";
  const remove = async () => {
    setBusy(true);
    const answer = await deleteProjectJudge(projectId);
    setBusy(false);
    if (!answer.ok) return setFailure(answer.failure);
    setAsking(false);
    toast("The judge is removed.");
    await queries.invalidateQueries({ queryKey: projectJudgeQuery(projectId).queryKey });
    onRemoved();
  };
  return (
    <section className="card stack" aria-labelledby="judge-remove">
      <h2 id="judge-remove">Remove this judge</h2>
      <p className="quiet">Its key goes with it. {after}</p>
      <div>
        <Button icon="trash" onClick={() => setAsking(true)}>
          Remove judge…
        </Button>
      </div>
      {asking && (
        <Dialog
          title="Remove judge"
          about={`Its key goes with it. ${after}`}
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
