// Totals of the ingestion log: requests by code, with what each code means, and by service name.
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import type { IngestionSummary, SeenService } from "../../../src/http/ingestion/schemas.ts";
import { counted } from "../../labels.ts";
import { agentsQuery } from "../../queries/agents.ts";
import { explained, ingestionWord } from "../../refusals.ts";
import { isUsableName } from "../../service-names.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { AssignServiceName } from "./AssignServiceName.tsx";

const route = getRouteApi("/member/projects/$projectId/ingestion");

export function Codes({ sums: { codes } }: { sums: IngestionSummary }) {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  return (
    <section className="card stack" aria-labelledby="ingestion-codes">
      <h2 id="ingestion-codes">By code</h2>
      {codes.length === 0 && <p className="quiet">No requests in this period</p>}
      <ul className="stack ingestion-list">
        {codes.map(({ code, requests, spans }) => {
          const { why, remedy } = explained[code];
          return (
            <li key={code} className="stack-tight">
              <div className="line">
                <Badge word={ingestionWord(code)} />
                <strong>{counted(requests, "request")}</strong>
                <Link
                  to="/projects/$projectId/ingestion"
                  params={{ projectId }}
                  search={{ ...search, code }}
                  className="mono break"
                >
                  {code}
                </Link>
                {spans > 0 && <span className="quiet small">{counted(spans, "span")} stored</span>}
              </div>
              <p className="small">
                {why} <span className="quiet">{remedy}</span>
              </p>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

type ServicesProps = { projectId: string; sums: IngestionSummary };

export function Services({ projectId, sums: { services } }: ServicesProps) {
  const [assigning, setAssigning] = useState<string>();
  return (
    <section className="card stack" aria-labelledby="ingestion-services">
      <h2 id="ingestion-services">By service name</h2>
      {services.length === 0 && (
        <p className="quiet">No OpenTelemetry exports. Plain JSON requests have no service name.</p>
      )}
      <ul className="stack ingestion-list">
        {services.map(service => (
          <li key={service.serviceName}>
            <Service projectId={projectId} service={service} onAssign={setAssigning} />
          </li>
        ))}
      </ul>
      {assigning !== undefined && (
        <AssignServiceName
          projectId={projectId}
          serviceName={assigning}
          onClose={() => setAssigning(undefined)}
        />
      )}
    </section>
  );
}

type ServiceProps = { projectId: string; service: SeenService; onAssign: (serviceName: string) => void };

function Service({ projectId, service, onAssign }: ServiceProps) {
  const { serviceName, agentId, unknown, lastSeenAt, requests, codes } = service;
  const search = route.useSearch();
  const { data: agents = [] } = useInfiniteQuery(agentsQuery(projectId));
  const accepted = codes.OK ?? 0;
  const partial = codes.PARTIAL ?? 0;
  const rejected = requests - accepted - partial;
  const sums = [
    { word: ingestionWord("OK"), count: accepted },
    { word: ingestionWord("PARTIAL"), count: partial },
    { word: { text: "Rejected", icon: "cross", tone: "bad" } as const, count: rejected },
  ];
  return (
    <div className="stack-tight">
      <div className="line line-apart">
        <Link
          to="/projects/$projectId/ingestion"
          params={{ projectId }}
          search={{ ...search, service: serviceName }}
          className="mono ingestion-name"
        >
          {serviceName}
        </Link>
        <span className="quiet small">
          last seen <RelativeTime at={lastSeenAt} />
        </span>
      </div>
      <div className="line">
        {sums
          .filter(({ count }) => count > 0)
          .map(({ word, count }) => (
            <Badge key={word.text} word={word}>
              : {count}
            </Badge>
          ))}
        {agentId !== null && (
          <Link
            to="/projects/$projectId/agents/$agentId"
            params={{ projectId, agentId }}
            className="small break"
          >
            {agents.find(({ id }) => id === agentId)?.name ?? "Agent"}
          </Link>
        )}
        {unknown && (
          <>
            <Badge word={{ text: "No agent with this name", icon: "warning", tone: "warn" }} />
            {isUsableName(serviceName) ? (
              <Button
                small
                onClick={() => onAssign(serviceName)}
                aria-label={`Assign to an agent: ${serviceName}`}
              >
                Assign to an agent…
              </Button>
            ) : (
              <span className="small">
                Set <code>OTEL_SERVICE_NAME</code> for this exporter.
              </span>
            )}
          </>
        )}
      </div>
    </div>
  );
}
