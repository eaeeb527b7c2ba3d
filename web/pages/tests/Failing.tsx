// Shows that a test is failing on live traffic, and since when.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Failing } from "../../../src/http/alerts/schemas.ts";
import { testStateQuery } from "../../queries/alerts.ts";
import { Notice } from "../../ui/Notice.tsx";
import { MomentTime } from "../../ui/Time.tsx";

/** In a list. */
export function FailingSince({ failing }: { failing: Failing }) {
  return (
    <span className="failing-since small">
      Failing since <MomentTime at={failing.since} />
    </span>
  );
}

type FailingNoticeProps = { params: { projectId: string; agentId: string; testId: string } };

/** On a page of the test; nothing unless it is failing. */
export function FailingNotice({ params }: FailingNoticeProps) {
  const { data } = useQuery(testStateQuery(params.testId));
  if (!data?.failing) return null;
  const { since, traceId } = data.failing;
  return (
    <Notice tone="bad">
      <p>
        <strong>
          Failing since <MomentTime at={since} />
        </strong>
        , until it passes three times in a row on live traffic.{" "}
        {traceId && (
          <Link
            to="/projects/$projectId/agents/$agentId/traces/$traceId"
            params={{ ...params, traceId }}
            search={{ test: params.testId }}
          >
            First failing trace
          </Link>
        )}
      </p>
    </Notice>
  );
}
