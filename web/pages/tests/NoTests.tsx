// Empty state of the test case list: templates, and a draft from the latest trace.
import { Link } from "@tanstack/react-router";
import { checkTypes, passiveBehaviors } from "../../labels.ts";
import { templates } from "../../templates.ts";

type NoTestsProps = {
  params: { projectId: string; agentId: string };
  lastTrace: { id: string } | null;
};

export function NoTests({ params, lastTrace }: NoTestsProps) {
  const fresh = { ...params, testId: "new" };
  const editor = "/projects/$projectId/agents/$agentId/tests/$testId";
  return (
    <div className="stack">
      <div className="stack-tight">
        <h2>No test cases yet</h2>
        <p className="quiet">
          A test case describes what you expect of your agent. Start from a template and adapt it.
        </p>
      </div>
      <div className="line">
        {lastTrace && (
          <Link
            to={editor}
            params={fresh}
            search={{ trace: lastTrace.id }}
            className="button"
            data-look="main"
          >
            Create test from latest trace
          </Link>
        )}
        <Link to={editor} params={fresh} className="button">
          Start from scratch
        </Link>
      </div>
      <ul className="templates">
        {templates.map(
          ({ id, name, about, document: { passiveBehavior = "run_when_relevant", assertions } }) => (
            <li key={id} className="card template">
              <h3>
                <Link to={editor} params={fresh} search={{ template: id }}>
                  {name}
                </Link>
              </h3>
              <p>{about}</p>
              <p className="quiet small">
                {passiveBehaviors[passiveBehavior].text} ·{" "}
                {[...new Set(assertions.map(({ type }) => checkTypes[type]))].join(", ")}
              </p>
            </li>
          ),
        )}
      </ul>
    </div>
  );
}
