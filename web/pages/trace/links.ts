// Links to a trace, or to a span or check in it, to be copied.
import { useParams, useRouter } from "@tanstack/react-router";
import { copyText } from "../../ui/copy-text.ts";

type Place = { span?: string; test?: string; check?: string };

/** Copies the link with its origin. Without a place it is the trace's. */
export function useCopyLink(): (place?: Place) => void {
  const router = useRouter();
  const { projectId = "", agentId = "", traceId = "" } = useParams({ strict: false });
  return (place = {}) => {
    const { href } = router.buildLocation({
      to: "/projects/$projectId/agents/$agentId/traces/$traceId",
      params: { projectId, agentId, traceId },
      search: place,
    });
    void copyText(location.origin + href, "link");
  };
}
