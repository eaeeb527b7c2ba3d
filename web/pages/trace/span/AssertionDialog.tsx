// Drafts an assertion from a value of a trace, and opens it in the editor of a new or existing test case.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { TraceOutline } from "../../../../src/http/traces/schemas.ts";
import { failureOf } from "../../../api.ts";
import { checkTypes, testStates } from "../../../labels.ts";
import type { DraftPlace } from "../../../mutations/tests.ts";
import { draftAssertionQuery } from "../../../queries/drafts.ts";
import { testsQuery } from "../../../queries/tests.ts";
import { Button } from "../../../ui/Button.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { Choices, Field } from "../../../ui/Field.tsx";
import { FailureNotice } from "../../../ui/Notice.tsx";
import { MorePages, Skeleton } from "../../../ui/State.tsx";
import { pathText } from "../../../value-path.ts";
import { Rule } from "../evaluation/rule.tsx";
import { Value } from "../evaluation/Value.tsx";

type AssertionDialogProps = { trace: TraceOutline; place: DraftPlace; onClose: () => void };

const newTest = "new";

export default function AssertionDialog({ trace, place, onClose }: AssertionDialogProps) {
  const [testId, setTestId] = useState(newTest);
  const [mustNot, setMustNot] = useState(false);
  const navigate = useNavigate();
  const { projectId = "" } = useParams({ strict: false });
  const draft = useQuery(draftAssertionQuery(trace.id, place));
  const { spanId, attribute, path } = place;
  const open = () =>
    void navigate({
      to: "/projects/$projectId/agents/$agentId/tests/$testId",
      params: { projectId, agentId: trace.agentId, testId },
      search: {
        trace: trace.id,
        span: spanId,
        attribute: attribute ?? undefined,
        path: path.length > 0 ? JSON.stringify(path) : undefined,
        mustNot: mustNot ? "true" : undefined,
      },
    });
  return (
    <Dialog title="Create assertion" about={<Place place={place} trace={trace} />} onClose={onClose}>
      <div aria-live="polite">
        {draft.isPending && <Skeleton lines={2} />}
        {draft.error && <FailureNotice failure={failureOf(draft.error)} />}
        {draft.data && (
          <div className="card assertion-draft">
            <p className="quiet small">{checkTypes[draft.data.type]}</p>
            <p className="break">
              <Rule
                assertion={{ ...draft.data, id: "", negate: mustNot || draft.data.negate }}
                threshold={undefined}
              />
            </p>
            {draft.data.type === "json_schema" && <Value value={draft.data.schema} />}
            {draft.data.type === "tool_call" && !draft.data.negate && (
              <label className="choice">
                <input
                  type="checkbox"
                  checked={mustNot}
                  onChange={({ target }) => setMustNot(target.checked)}
                />
                <span>Must not be called</span>
              </label>
            )}
            <p className="quiet small">
              {mustNot
                ? "It fails on this trace."
                : "It passes on this trace, unless the value is what failed: then it asks for the opposite."}{" "}
              You can edit it before saving.
            </p>
          </div>
        )}
      </div>
      <TestChoice agentId={trace.agentId} chosen={testId} onChoose={setTestId} />
      <div className="line line-end">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="main" busy={!draft.data} onClick={open}>
          Open in editor
        </Button>
      </div>
    </Dialog>
  );
}

function Place({ trace, place: { spanId, attribute, path } }: { trace: TraceOutline; place: DraftPlace }) {
  const name = trace.spans.find(span => span.spanId === spanId)?.name ?? spanId;
  if (attribute === null) return `From span “${name}”`;
  const inside = pathText(path);
  return (
    <>
      From <code>{attribute + (inside === "" || inside.startsWith("[") ? inside : `.${inside}`)}</code> of
      span “{name}”
    </>
  );
}

type TestChoiceProps = { agentId: string; chosen: string; onChoose: (testId: string) => void };

const searchFrom = 8;
const shownMax = 50;

function TestChoice({ agentId, chosen, onChoose }: TestChoiceProps) {
  const tests = useInfiniteQuery(testsQuery(agentId));
  const [search, setSearch] = useState("");
  const all = tests.data ?? [];
  const wanted = search.trim().toLowerCase();
  const found = all.filter(({ id, name }) => id === chosen || name.toLowerCase().includes(wanted));
  return (
    <div className="stack-tight">
      {all.length >= searchFrom && (
        <Field
          label="Search test cases"
          name="search"
          type="search"
          value={search}
          onChange={event => setSearch(event.target.value)}
          autoComplete="off"
        />
      )}
      <Choices
        label="Add to"
        name="test"
        choices={[
          { value: newTest, label: "New test case" },
          ...found
            .slice(0, shownMax)
            .map(({ id, name, status }) => ({ value: id, label: name, note: testStates[status].text })),
        ]}
        chosen={[chosen]}
        onChoose={([id]) => id && onChoose(id)}
      />
      {found.length > shownMax && (
        <p className="quiet small">{found.length - shownMax} more. Search to find them.</p>
      )}
      {tests.error && <FailureNotice failure={failureOf(tests.error)} />}
      <MorePages query={tests} />
    </div>
  );
}
