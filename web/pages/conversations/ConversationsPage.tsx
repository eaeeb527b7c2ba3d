// The conversations of an agent, newest first: first words, last reply, turns and verdicts.
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect } from "react";
import type { ConversationSummary } from "../../../src/http/traces/conversations-schemas.ts";
import { outcomeWord } from "../../labels.ts";
import { useLive } from "../../live.ts";
import { conversationsQuery } from "../../queries/conversations.ts";
import { useRefresh } from "../../refreshing.ts";
import { useRowKeys } from "../../shell/row-keys.ts";
import { Badge } from "../../ui/Badge.tsx";
import { InvalidFilters } from "../../ui/InvalidFilters.tsx";
import { Page } from "../../ui/Page.tsx";
import { EmptyState, Loaded, MorePages, Skeleton } from "../../ui/State.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { TraceText } from "../../ui/TraceText.tsx";
import { unknownValueText } from "../../unknown-value.ts";
import { TracesOrConversations } from "./TracesOrConversations.tsx";
import { turnCount, verdictsText } from "./words.ts";
import "../../styles/traces.css";
import "../../styles/conversations.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces/conversations");

const kinds = [
  { kind: undefined, text: "All" },
  { kind: "live", text: "Live traffic" },
  { kind: "test_run", text: "Test runs" },
] as const;

export function ConversationsPage() {
  const params = route.useParams();
  const search = route.useSearch();
  const kind = kinds.find(one => one.kind === search.kind)?.kind;
  const queries = useQueryClient();
  const options = conversationsQuery(params.agentId, kind);
  const query = useInfiniteQuery(options);
  const refresh = useRefresh(() => queries.invalidateQueries({ queryKey: options.queryKey }), 2_000);
  useLive({ agentId: params.agentId }, ({ type }) => {
    if (type === "trace" || type === "run" || type === "refresh") refresh();
  });
  const items = query.data?.pages.flatMap(page => page.items);
  const { hasNextPage, isFetching, fetchNextPage } = query;
  const isSearching = items?.length === 0 && hasNextPage && !query.isFetchNextPageError;
  useEffect(() => {
    // The newest traces may have no conversation: pages end when their time is up.
    if (isSearching && !isFetching) void fetchNextPage();
  }, [isSearching, isFetching, fetchNextPage]);
  return (
    <Page title="Traces" beside={<TracesOrConversations params={params} shown="conversations" />}>
      <div className="stack">
        {search.kind && !kind && <InvalidFilters faults={[unknownValueText("Kind", search.kind)]} />}
        <div className="line">
          <nav className="segments" aria-label="Kind of conversations">
            {kinds.map(({ kind: one, text }) => (
              <Link
                key={text}
                to="."
                search={{ kind: one }}
                className="segment"
                aria-current={kind === one ? "page" : undefined}
                activeOptions={{ exact: true, includeSearch: true }}
              >
                {text}
              </Link>
            ))}
          </nav>
        </div>
        <Loaded query={{ ...query, data: items }}>
          {all => {
            if (all.length > 0) return <ConversationTable conversations={all} params={params} />;
            return isSearching ? <Skeleton /> : <NoConversations kind={kind} params={params} />;
          }}
        </Loaded>
        {items && items.length > 0 && <MorePages query={query} />}
      </div>
    </Page>
  );
}

type Params = { projectId: string; agentId: string };
type TableProps = { conversations: readonly ConversationSummary[]; params: Params };

function ConversationTable({ conversations, params }: TableProps) {
  const table = useRowKeys("conversation");
  return (
    <div className="table-wrap">
      <table className="table conversations-table" ref={table}>
        <thead>
          <tr>
            <th scope="col">Conversation</th>
            <th scope="col">Verdict</th>
            <th scope="col">Turns</th>
            <th scope="col">Last turn</th>
          </tr>
        </thead>
        <tbody>
          {conversations.map(one => (
            <tr key={one.conversationId}>
              <th scope="row">
                <div className="conversations-subject">
                  <Link
                    to="/projects/$projectId/agents/$agentId/traces/conversation"
                    params={params}
                    search={{ id: one.conversationId }}
                    className="conversations-input"
                  >
                    <bdi>{one.userInput?.trim() ? <TraceText text={one.userInput} /> : "No input"}</bdi>
                  </Link>
                  {one.responseText && (
                    <bdi className="conversations-reply quiet">
                      <TraceText text={one.responseText} />
                    </bdi>
                  )}
                  <span className="conversations-ids quiet small">
                    <bdi className="mono" title={one.conversationId}>
                      <TraceText text={one.conversationId} rules={one.redacted} />
                    </bdi>
                    {one.userId !== null && (
                      <bdi title={one.userId}>
                        User{" "}
                        <span className="mono">
                          <TraceText text={one.userId} rules={one.redacted} />
                        </span>
                      </bdi>
                    )}
                    {one.kind === "test_run" && <span>Test run</span>}
                  </span>
                </div>
              </th>
              <td data-label="Verdict">
                {one.verdict ? (
                  <Badge word={outcomeWord(one.verdict, one.notFullyEvaluated === 0)} />
                ) : (
                  <span className="quiet">Not evaluated</span>
                )}
                {one.verdict && <span className="conversations-counts quiet small">{verdictsText(one)}</span>}
              </td>
              <td data-label="Turns">{turnCount(one.traces)}</td>
              <td data-label="Last turn">
                <RelativeTime at={one.lastAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function NoConversations({ kind, params }: { kind: string | undefined; params: Params }) {
  if (kind) {
    return (
      <EmptyState
        icon="log"
        title={kind === "live" ? "No live conversations" : "No conversations of test runs"}
      >
        <Link to="." search={{}} className="button">
          Show all conversations
        </Link>
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="log" title="No conversations yet">
      <p className="quiet">
        Send the same <code>gen_ai.conversation.id</code> or <code>session.id</code> on the spans of each
        trace of a conversation, and <code>user.id</code> for the user. If your SDK sends another attribute,
        switch on its convention.
      </p>
      <Link
        to="/projects/$projectId/agents/$agentId/settings"
        params={params}
        hash="conventions"
        className="button"
      >
        Choose conventions
      </Link>
    </EmptyState>
  );
}
