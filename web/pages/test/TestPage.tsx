// The page of the test case editor: loads a saved test case, or starts one blank, from a template or from a trace.
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import { type Failure, failureOf } from "../../api.ts";
import { documentOf, withSources } from "../../forms/test-changes.ts";
import { type DraftPlace, draftAssertion, draftTest } from "../../mutations/tests.ts";
import { projectJudgeQuery } from "../../queries/project-judge.ts";
import { testQuery } from "../../queries/tests.ts";
import { NotFound } from "../../shell/NotFound.tsx";
import "../../styles/editor.css";
import { Page } from "../../ui/Page.tsx";
import { Loaded } from "../../ui/State.tsx";
import { blank, type Doc } from "./document.ts";
import { Editor } from "./Editor.tsx";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/tests/$testId");

type Search = ReturnType<typeof route.useSearch>;

/** What the editor starts with. */
export type Origin = {
  /** Null: not saved yet. */
  stored: ListedTest | null;
  document: Doc;
  /** An assertion to add, drafted from a value in a trace. */
  assertion: Doc | undefined;
  /** Why the draft failed. */
  failure: Failure | undefined;
  /** The trace that a new test is drafted from. */
  draftedFrom: string | undefined;
  /** The assertion is the opposite of what the trace did. */
  mustFail: boolean;
};

export function TestPage() {
  const { agentId, testId } = route.useParams();
  const place = `${agentId}/${testId}`;
  const [open, setOpen] = useState<Open>({ count: 0, openedAs: testId, place, created: undefined });
  if (place !== open.place) {
    // A test gets its id when it is first saved. The editor stays open, with what was tried in it.
    const isCreated = testId === open.created;
    setOpen(
      isCreated ? { ...open, place } : { count: open.count + 1, openedAs: testId, place, created: undefined },
    );
  }
  return (
    <OpenTest
      key={open.count}
      testId={open.openedAs}
      onCreated={created => setOpen(open => ({ ...open, created }))}
    />
  );
}

type Open = {
  /** Of the editors that were open on this page. */
  count: number;
  /** The id in the URL when it was opened. */
  openedAs: string;
  /** The agent and test that the URL names. */
  place: string;
  /** The id of the test that was saved in it first. */
  created: string | undefined;
};

type OpenTestProps = { testId: string; onCreated: (id: string) => void };

function OpenTest({ testId, onCreated }: OpenTestProps) {
  const { projectId, agentId } = route.useParams();
  const search = route.useSearch();
  // Draft once, from the URL as it was when the page opened.
  const [initial] = useState(search);
  const queries = useQueryClient();
  const origin = useQuery(
    queryOptions({
      queryKey: ["editor", agentId, testId, initial],
      queryFn: async (): Promise<Origin> => {
        if (testId === "new") {
          const judge = () => queries.fetchQuery({ ...projectJudgeQuery(projectId), staleTime: 60_000 });
          return beginNew(initial, async () => (await judge()).source !== null);
        }
        const stored = await queries.fetchQuery({ ...testQuery(testId), staleTime: 0 });
        const drafted = await draftOf(initial);
        const document = { ...documentOf(stored), ...(drafted.assertion && sourcesWith(stored, initial)) };
        return { stored, document, draftedFrom: undefined, ...drafted };
      },
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 0,
    }),
  );
  if (origin.error && failureOf(origin.error).code === "NOT_FOUND") return <NotFound />;
  if (origin.data?.stored && origin.data.stored.agentId !== agentId) return <NotFound />;
  if (!origin.data) {
    return (
      <Page title="Test case">
        <Loaded query={origin}>{() => null}</Loaded>
      </Page>
    );
  }
  return <Editor origin={origin.data} onCreated={onCreated} />;
}

async function beginNew(
  { template, trace, ...rest }: Search,
  hasJudge: () => Promise<boolean>,
): Promise<Origin> {
  const origin = {
    stored: null,
    document: blank,
    assertion: undefined,
    failure: undefined,
    draftedFrom: undefined,
    mustFail: false,
  };
  if (template !== undefined) {
    const { templates } = await import("../../templates.ts");
    const found = templates.find(({ id }) => id === template);
    const document = { ...blank, ...(found?.document as Doc | undefined) };
    return { ...origin, document: withoutRouting(document, await hasJudge()) };
  }
  if (trace === undefined) return origin;
  const [test, drafted, isJudged] = await Promise.all([
    draftTest(trace),
    draftOf({ trace, ...rest }),
    hasJudge(),
  ]);
  if (!test.ok) return { ...origin, ...drafted, failure: test.failure };
  const draft = withoutRouting(test.value, isJudged);
  // A new test for one value checks that value only.
  const document = drafted.assertion
    ? { ...draft, assertions: [], ...(drafted.mustFail && prohibition(drafted.assertion)) }
    : draft;
  return { ...origin, ...drafted, document, draftedFrom: trace };
}

/** What must not happen must not happen on any trace. */
function prohibition({ type, expected_name }: Doc): Doc {
  const isCall = type === "tool_call" && typeof expected_name === "string";
  return {
    passiveBehavior: "always_run",
    ...(isCall && { name: `Does not call ${expected_name}`.slice(0, 200) }),
  };
}

/** Without a judge, a scenario is never matched: such a test would never run. */
function withoutRouting(document: Doc, hasJudge: boolean): Doc {
  const isConditional = document["passiveBehavior"] === "run_when_relevant";
  return hasJudge || !isConditional ? document : { ...document, passiveBehavior: "always_run" };
}

async function draftOf({
  trace,
  span,
  attribute,
  path,
  mustNot,
}: Search): Promise<Pick<Origin, "assertion" | "failure" | "mustFail">> {
  const none = { assertion: undefined, failure: undefined, mustFail: false };
  if (trace === undefined || span === undefined) return none;
  const place = { spanId: span, attribute: attribute ?? null, path: keysOf(path) };
  const answer = await draftAssertion(trace, place);
  if (!answer.ok) return { ...none, failure: answer.failure };
  const mustFail = mustNot !== undefined;
  return { ...none, assertion: mustFail ? { ...answer.value, negate: true } : answer.value, mustFail };
}

/** The test gets words of the trace with the assertion. */
function sourcesWith({ draftedFrom }: ListedTest, { trace = "" }: Search): Doc {
  return { draftedFrom: withSources(draftedFrom, [trace]) };
}

/** The URL holds the keys as JSON text; anything else means the attribute itself. */
function keysOf(path: string | undefined): DraftPlace["path"] {
  try {
    const keys: unknown = JSON.parse(path ?? "[]");
    return Array.isArray(keys) ? keys : [];
  } catch {
    return [];
  }
}
