// The judge set in the service's environment: server, model, connection test, or how to configure one.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { judgeQuery } from "../../queries/judge.ts";
import { useProject } from "../../shell/project.ts";
import { Copy } from "../../ui/Copy.tsx";
import { Loaded } from "../../ui/State.tsx";
import { TrialButton } from "../project/JudgeTrial.tsx";
import { NoJudgeConfigured } from "../project/NoJudgeConfigured.tsx";

const environment = [
  "SVC_JUDGE_URL=https://api.example.com/v1",
  "SVC_JUDGE_MODEL=model-name",
  "SVC_JUDGE_API_KEY=key-if-required",
  "",
].join("\n");

export function SettingsJudge() {
  const judge = useQuery(judgeQuery);
  return (
    <section className="card stack">
      <h2>Judge</h2>
      <p className="quiet">
        The judge is a language model. It decides whether a trace matches a test’s scenario and whether a
        reply meets semantic criteria. This one is set in the service’s environment, for every project without
        its own judge.
      </p>
      <ProjectJudgeLink />
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
              <TrialButton />
            </>
          ) : (
            <NoJudge />
          )
        }
      </Loaded>
    </section>
  );
}

/** Projects can override this judge. */
function ProjectJudgeLink() {
  const project = useProject();
  if (!project) return null;
  return (
    <p>
      <Link to="/projects/$projectId/settings/judge" params={{ projectId: project.id }}>
        Judge for “<bdi>{project.name}</bdi>”
      </Link>
    </p>
  );
}

function NoJudge() {
  return (
    <>
      <NoJudgeConfigured />
      <p>
        Set up a judge for a project, or start the service (and its worker processes) with these variables.
        Any server that supports OpenAI’s chat completions works, including one on this machine.
      </p>
      <textarea
        className="input secret mono"
        aria-label="Judge environment variables"
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
