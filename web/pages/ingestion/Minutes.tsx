// The rows of the ingestion log: one per minute, code, key and service name.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { IngestionMinute } from "../../../src/http/ingestion/schemas.ts";
import { exactMomentText, momentText } from "../../format.ts";
import { counted } from "../../labels.ts";
import { agentsQuery } from "../../queries/agents.ts";
import { explained, ingestionWord } from "../../refusals.ts";
import { Badge } from "../../ui/Badge.tsx";
import { EmptyState } from "../../ui/State.tsx";
import { Paths } from "./Paths.tsx";

const dropWords: Record<IngestionMinute["dropped"][number]["reason"], string> = {
  no_conventions: "the agent has no conventions",
  no_content: "nothing to read, or no span named",
  no_span: "no span came in 10 minutes",
  no_room: "the trace is full",
};

/** What was rejected: a row sums requests with traces and with log records. */
function rejectedNoun({ spans, records, dropped }: Pick<IngestionMinute, "spans" | "records" | "dropped">) {
  if (records === 0 && dropped.length === 0) return "trace";
  return spans === 0 ? "log record" : "item";
}

type MinutesProps = { projectId: string; items: IngestionMinute[]; isClearable: boolean };

export function Minutes({ projectId, items, isClearable }: MinutesProps) {
  const { data: agents = [] } = useInfiniteQuery(agentsQuery(projectId));
  if (items.length === 0) {
    return (
      <EmptyState icon="search" title="No matching requests">
        {isClearable && (
          <Link to="/projects/$projectId/ingestion" params={{ projectId }} search={{}} className="button">
            Clear filters
          </Link>
        )}
      </EmptyState>
    );
  }
  return (
    <div className="table-wrap">
      <table className="table ingestion-table">
        <thead>
          <tr>
            <th scope="col">Minute</th>
            <th scope="col">Result</th>
            <th scope="col" className="cell-end">
              Requests
            </th>
            <th scope="col" className="cell-end">
              Spans stored
            </th>
            <th scope="col">Service name</th>
            <th scope="col">Key</th>
            <th scope="col">Agent</th>
          </tr>
        </thead>
        <tbody>
          {items.map(
            ({
              id,
              at,
              code,
              requests,
              spans,
              serviceName,
              keyName,
              agentId,
              reasons,
              records,
              dropped,
              rejection,
            }) => (
              <tr key={id}>
                <td data-label="Minute">
                  <time dateTime={at}>{momentText(at)}</time>
                </td>
                <td data-label="Result" className="wide">
                  <div className="ingestion-result">
                    <div className="line" title={explained[code].why}>
                      <Badge word={ingestionWord(code)} />
                      {code !== "OK" && code !== "PARTIAL" && <code className="break">{code}</code>}
                    </div>
                    {rejection && (
                      <details className="small">
                        <summary>Latest request</summary>
                        <dl className="facts">
                          <dt>Time</dt>
                          <dd>
                            <time dateTime={rejection.at}>{exactMomentText(rejection.at)}</time>
                          </dd>
                          <dt>Request</dt>
                          <dd>
                            <code className="break">{rejection.requestId}</code>
                          </dd>
                          {rejection.paths.length > 0 && (
                            <>
                              <dt>Invalid</dt>
                              <dd>
                                <Paths paths={rejection.paths} />
                              </dd>
                            </>
                          )}
                        </dl>
                      </details>
                    )}
                    {records > 0 && (
                      <div className="small">{counted(records, "log record")} kept for their span</div>
                    )}
                    {dropped.map(({ reason, records }) => (
                      <div key={reason} className="small">
                        {counted(records, "log record")} dropped: {dropWords[reason]}
                      </div>
                    ))}
                    {reasons.map(reason => (
                      <div key={reason.code} className="small" title={explained[reason.code].why}>
                        {counted(reason.traces, rejectedNoun({ spans, records, dropped }))} rejected:{" "}
                        <code className="break">{reason.code}</code>
                      </div>
                    ))}
                  </div>
                </td>
                <td data-label="Requests" className="cell-end">
                  {requests}
                </td>
                <td data-label="Spans stored" className="cell-end">
                  {spans}
                </td>
                <td data-label="Service name" className="wide">
                  {serviceName === null ? (
                    <span className="quiet">None</span>
                  ) : (
                    <code className="ingestion-name">{serviceName}</code>
                  )}
                </td>
                <td data-label="Key" className="wide">
                  {keyName ?? <span className="quiet">Revoked</span>}
                </td>
                <td data-label="Agent" className="wide">
                  {agentId === null ? (
                    <span className="quiet">None</span>
                  ) : (
                    <Link to="/projects/$projectId/agents/$agentId" params={{ projectId, agentId }}>
                      {agents.find(agent => agent.id === agentId)?.name ?? "Deleted"}
                    </Link>
                  )}
                </td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}
