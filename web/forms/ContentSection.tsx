// Section of the agent settings: whether the content of its traces is stored and for how long, and which tests stop if not.
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Agent } from "../../src/http/projects/schemas.ts";
import type { TestCase } from "../../src/model/test-case/test-case.ts";
import { numberText } from "../format.ts";
import { updateAgent } from "../mutations/agents.ts";
import { agentQuery } from "../queries/agents.ts";
import { testsQuery } from "../queries/tests.ts";
import { Choices } from "../ui/Field.tsx";
import { Notice } from "../ui/Notice.tsx";
import { toast } from "../ui/Toast.tsx";
import { ForgetAfterField } from "./ForgetAfterField.tsx";
import { forgetAfterOf, secondsOf } from "./forget-after.ts";
import { SubmitRow } from "./SubmitRow.tsx";
import { useSubmit } from "./submit.ts";

type Content = Agent["content"];

export function ContentSection({ agent }: { agent: Agent }) {
  const queries = useQueryClient();
  const [content, setContent] = useState<Content>(agent.content);
  const [forgetAfter, setForgetAfter] = useState(() => forgetAfterOf(agent.contentForgetAfterSeconds));
  const { form, busy, faults, failure } = useSubmit<Agent>({
    send: () =>
      updateAgent(agent.id, {
        content,
        contentForgetAfterSeconds: content === "forget" ? secondsOf(forgetAfter) : null,
      }),
    done: async changed => {
      queries.setQueryData(agentQuery(agent.id).queryKey, changed);
      toast("Content setting saved");
      await queries.invalidateQueries({ queryKey: ["traces"] });
    },
  });
  return (
    <section className="card stack" aria-labelledby="content" id="content-settings">
      <div className="stack-tight">
        <h2 id="content">Content</h2>
        <p className="quiet">
          What users and the agent say, arguments and results of tools, and all other attributes that are not
          structure. A change counts for traces that arrive from now on. Stored traces keep their content, or
          are forgotten after the time that was set when they arrived.
        </p>
      </div>
      <form {...form} className="stack" aria-label="Content">
        <Choices
          name="content"
          label="Content of traces"
          choices={[
            { value: "keep", label: "Store content" },
            {
              value: "forget",
              label: "Evaluate, then forget content",
              note: "Content is stored while the trace is evaluated, then dropped after a time. Verdicts, scores, tokens and cost stay; texts go, also from evidence and judge calls.",
            },
            {
              value: "none",
              label: "Store no content",
              note: "Only structure, times, tokens, names of spans, tools and models, status, and user and conversation IDs are stored. The judge is never asked.",
            },
          ]}
          chosen={[content]}
          onChoose={([chosen]) => setContent(chosen!)}
          fault={faults["content"]}
        />
        {content === "forget" && (
          <ForgetAfterField
            value={forgetAfter}
            onChange={setForgetAfter}
            fault={faults["contentForgetAfterSeconds"]}
          />
        )}
        {content === "none" && <Stopped agent={agent} />}
        <SubmitRow failure={failure} busy={busy}>
          Save content setting
        </SubmitRow>
      </form>
    </section>
  );
}

/** How many of the agent's tests need content. */
function Stopped({ agent }: { agent: Agent }) {
  const { data: tests } = useInfiniteQuery(testsQuery(agent.id));
  if (!tests) return null;
  const stopped = tests.filter(test => needsContent(test)).length;
  return (
    <Notice tone={stopped > 0 ? "warn" : "info"}>
      {stopped > 0
        ? `${numberText(stopped)} of ${numberText(tests.length)} ${tests.length === 1 ? "test" : "tests"} cannot be evaluated in full: scenarios are not matched, and checks of replies, arguments and attributes show “Missing instrumentation”.`
        : "All tests of this agent work without content."}
    </Notice>
  );
}

const ofContent = ["response_regex", "semantic", "json_match", "json_schema"];

function needsContent({ passiveBehavior, assertions }: Pick<TestCase, "passiveBehavior" | "assertions">) {
  const isChecked = assertions.some(
    assertion =>
      ofContent.includes(assertion.type) ||
      (assertion.type === "tool_call" && assertion.expected_arguments !== undefined),
  );
  return isChecked || passiveBehavior === "run_when_relevant";
}
