// Section of the agent settings: whether the content of its traces is stored and for how long, and which tests stop if not.

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { Agent } from "../../src/http/projects/schemas.ts";
import type { TestCase } from "../../src/model/test-case/document.ts";
import { numberText } from "../format.ts";
import { updateAgent } from "../mutations/agents.ts";
import { agentQuery } from "../queries/agents.ts";
import { readNow } from "../queries/client.ts";
import { testsQuery } from "../queries/tests.ts";
import { Choices } from "../ui/Field.tsx";
import { Notice } from "../ui/Notice.tsx";
import { toast } from "../ui/Toast.tsx";
import { ForgetAfterField } from "./ForgetAfterField.tsx";
import { type ForgetAfter, forgetAfterOf, secondsOf } from "./forget-after.ts";
import { SubmitRow } from "./SubmitRow.tsx";
import { useSubmit } from "./submit.ts";
import { useDraft } from "./use-draft.ts";

type Saved = Pick<Agent, "content" | "contentForgetAfterSeconds">;
type Draft = { content: Agent["content"]; forgetAfter: ForgetAfter };

const savedOf = ({ content, contentForgetAfterSeconds }: Saved): Saved => ({
  content,
  contentForgetAfterSeconds,
});
const drafting = {
  toDraft: (saved: Saved): Draft => ({
    content: saved.content,
    forgetAfter: forgetAfterOf(saved.contentForgetAfterSeconds),
  }),
  fromDraft: ({ content, forgetAfter }: Draft): Saved => ({
    content,
    contentForgetAfterSeconds: content === "forget" ? secondsOf(forgetAfter) : null,
  }),
};

export function ContentSection({ agent }: { agent: Agent }) {
  const queries = useQueryClient();
  const query = agentQuery(agent.id);
  const { draft, change, ...drafted } = useDraft(savedOf(agent), drafting, async () =>
    savedOf(await readNow(queries, query)),
  );
  const { content, forgetAfter } = draft;
  const { form, faults, ...row } = useSubmit<Agent>({
    draft: drafted,
    send: () => updateAgent(agent.id, drafting.fromDraft(draft)),
    done: async changed => {
      drafted.settle(draft, savedOf(changed));
      queries.setQueryData(query.queryKey, changed);
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
          onChoose={([chosen]) => change({ content: chosen! })}
          fault={faults["content"]}
        />
        {content === "forget" && (
          <ForgetAfterField
            value={forgetAfter}
            onChange={time => change({ forgetAfter: time })}
            fault={faults["contentForgetAfterSeconds"]}
          />
        )}
        {content === "none" && <Stopped agent={agent} />}
        <SubmitRow {...row}>Save content setting</SubmitRow>
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
