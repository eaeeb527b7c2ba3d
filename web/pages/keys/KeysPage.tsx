// The project's keys: listed masked, shown once when made, revoked at once.

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { CreatedKey, Key } from "../../../src/http/projects/schemas.ts";
import { ConfirmDialog } from "../../forms/ConfirmDialog.tsx";
import { KeyForm } from "../../forms/KeyForm.tsx";
import { ShownOnce } from "../../forms/ShownOnce.tsx";
import { keyStates } from "../../labels.ts";
import { revokeKey } from "../../mutations/keys.ts";
import { agentsQuery } from "../../queries/agents.ts";
import { keysQuery } from "../../queries/keys.ts";
import { useFollow } from "../../shell/follow.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useNow } from "../../ui/now.ts";
import { Page } from "../../ui/Page.tsx";
import { EmptyState, Loaded, MorePages } from "../../ui/State.tsx";
import { DayTime, RelativeTime } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";

const route = getRouteApi("/member/projects/$projectId/keys");
const soonMs = 7 * 86_400_000;

type Open = { what: "new" } | { what: "made"; key: CreatedKey } | { what: "revoke"; key: Key } | undefined;

export function KeysPage() {
  const { projectId } = route.useParams();
  const queries = useQueryClient();
  const keys = useInfiniteQuery(keysQuery(projectId));
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const make = (
    <Button look="main" icon="plus" onClick={() => setOpen({ what: "new" })}>
      New key
    </Button>
  );
  return (
    <Page
      title="Keys"
      about="With a key, agents and exporters send traces to this project."
      actions={keys.data?.length ? make : null}
    >
      <Loaded query={keys}>
        {items =>
          items.length === 0 ? (
            <EmptyState icon="key" title="No key yet">
              <p className="quiet">
                Make one for each place that sends traces, so that each can be revoked alone.
              </p>
              {make}
            </EmptyState>
          ) : (
            <>
              <KeyTable
                projectId={projectId}
                keys={items}
                onRevoke={key => setOpen({ what: "revoke", key })}
              />
              <MorePages query={keys} />
            </>
          )
        }
      </Loaded>
      {open?.what === "new" && (
        <Dialog title="New key" onClose={close}>
          <KeyForm projectId={projectId} onDone={key => setOpen({ what: "made", key })} />
        </Dialog>
      )}
      {open?.what === "made" && (
        <ShownOnce
          noun="key"
          name={open.key.name}
          secret={open.key.key}
          environment={environmentOf(open.key.key)}
          onClose={close}
        />
      )}
      {open?.what === "revoke" && (
        <ConfirmDialog
          title="Revoke key"
          about={<RevokeAbout revoked={open.key} />}
          name={open.key.name}
          send={() => revokeKey(open.key.id)}
          action="Revoke key"
          onClose={close}
          onDone={async () => {
            close();
            toast(`“${open.key.name}” is revoked.`);
            await queries.invalidateQueries({ queryKey: keysQuery(projectId).queryKey });
          }}
        />
      )}
    </Page>
  );
}

type KeyTableProps = { projectId: string; keys: Key[]; onRevoke: (key: Key) => void };

function KeyTable({ projectId, keys, onRevoke }: KeyTableProps) {
  const { data: agents = [] } = useInfiniteQuery(agentsQuery(projectId));
  const nameOf = (agentId: string) => agents.find(({ id }) => id === agentId)?.name ?? agentId;
  return (
    <div className="table-wrap">
      <table className="table">
        <thead>
          <tr>
            {["Name", "Key", "State", "May write to", "Expires", "Last used", "Made"].map(heading => (
              <th key={heading} scope="col">
                {heading}
              </th>
            ))}
            <th scope="col">
              <span className="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map(key => (
            <tr key={key.id}>
              <th scope="row">{key.name}</th>
              <td data-label="Key">
                <code>{key.masked}</code>
              </td>
              <td data-label="State">
                <Badge word={keyStates[key.status]} />
              </td>
              <td data-label="May write to" className="wide">
                <Access access={key} nameOf={nameOf} />
              </td>
              <td data-label="Expires">
                <Expiry at={key.expiresAt} />
              </td>
              <td data-label="Last used">
                {key.lastUsedAt ? (
                  <LastUse projectId={projectId} id={key.id} name={key.name} at={key.lastUsedAt} />
                ) : (
                  <span className="quiet">Never</span>
                )}
              </td>
              <td data-label="Made" className="wide">
                <span>
                  <DayTime at={key.createdAt} />
                  {key.createdBy && <span className="quiet"> by {key.createdBy.name}</span>}
                </span>
              </td>
              <td className="cell-end">
                <Button small aria-label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
                  Revoke
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Access({ access, nameOf }: { access: Key; nameOf: (agentId: string) => string }) {
  if (access.access === "full") return "Every agent";
  if (access.agentIds.length === 0) return <span className="text-warn">No agent: all were deleted</span>;
  return <span>{access.agentIds.map(nameOf).join(", ")}</span>;
}

type LastUseProps = { projectId: string; id: string; name: string; at: string };

/** Leads to what came of its requests, by service name. */
function LastUse({ projectId, id, name, at }: LastUseProps) {
  const follow = useFollow();
  return (
    <a href={`/projects/${projectId}/ingestion?keyId=${id}`} ref={follow}>
      <RelativeTime at={at} />
      <span className="unseen">: requests with {name}</span>
    </a>
  );
}

function Expiry({ at }: { at: string | null }) {
  const now = useNow(60_000);
  if (at === null) return <span className="quiet">Never</span>;
  const left = Date.parse(at) - now;
  if (left > soonMs || left <= 0) return <DayTime at={at} />;
  return (
    <span className="text-warn">
      <Icon name="warning" />
      <RelativeTime at={at} />
    </span>
  );
}

function RevokeAbout({ revoked }: { revoked: Key }) {
  return (
    <>
      <code>{revoked.masked}</code>{" "}
      {revoked.lastUsedAt ? (
        <>
          was last used <RelativeTime at={revoked.lastUsedAt} />.
        </>
      ) : (
        "was never used."
      )}{" "}
      From this moment on, requests with it are refused. This cannot be undone.
    </>
  );
}

/** All that an OpenTelemetry exporter needs besides its service name. */
function environmentOf(key: string): string {
  return [
    `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${location.origin}/public/traces`,
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf",
    `OTEL_EXPORTER_OTLP_HEADERS=x-api-key=${key}`,
    "",
  ].join("\n");
}
