// Links and keys to the previous and the next trace of the list.
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useNeighbors } from "./neighbors.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces/$traceId");
const path = "/projects/$projectId/agents/$agentId/traces/$traceId";

/** The page of the next trace is a new one; the link that was followed has the focus there too. */
let followed: string | undefined;

export function NeighborLinks() {
  const params = route.useParams();
  const navigate = useNavigate();
  const { previous, next } = useNeighbors(params.agentId, params.traceId);
  const go = (traceId: string | undefined) => {
    if (traceId === undefined) return;
    void navigate({ to: path, params: { ...params, traceId }, search: kept });
  };
  useShortcut("K", "Previous trace", () => go(previous));
  useShortcut("J", "Next trace", () => go(next));
  return (
    <span className="trace-neighbors">
      <NeighborLink name="Previous trace" keys="Shift K" icon="up" traceId={previous} />
      <NeighborLink name="Next trace" keys="Shift J" icon="chevron" traceId={next} />
    </span>
  );
}

type NeighborLinkProps = { name: string; keys: string; icon: "up" | "chevron"; traceId: string | undefined };

function NeighborLink({ name, keys, icon, traceId }: NeighborLinkProps) {
  const params = route.useParams();
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (followed !== name || !link.current) return;
    followed = undefined;
    link.current.focus();
  });
  if (traceId === undefined) {
    return (
      <Button
        small
        look="plain"
        icon={icon}
        aria-label={name}
        title={`No ${name.toLowerCase()} in the list`}
        busy
      />
    );
  }
  return (
    <Link
      ref={link}
      to={path}
      params={{ ...params, traceId }}
      search={kept}
      className="button button-small button-icon"
      data-look="plain"
      aria-label={name}
      title={`${name}  ${keys}`}
      onClick={() => {
        followed = name;
      }}
    >
      <Icon name={icon} />
    </Link>
  );
}

/** The chosen view stays; spans, tests and runs are those of one trace. */
function kept({ view, only }: { view?: string | undefined; only?: string | undefined }) {
  return { view, only };
}
