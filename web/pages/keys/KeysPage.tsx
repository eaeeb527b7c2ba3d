// The project's API keys: a list of masked keys, a key shown once when created, and revoking.
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { CreatedKey, Key } from "../../../src/http/projects/schemas.ts";
import { ConfirmDialog } from "../../forms/ConfirmDialog.tsx";
import { KeyForm } from "../../forms/KeyForm.tsx";
import { KeyLimitForm } from "../../forms/KeyLimitForm.tsx";
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
import { DayTime, RelativeTime, relativeText } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { forgetCreatedKey } from "../start/created-key.ts";

const route = getRouteApi("/member/projects/$projectId/keys");
const soonMs = 7 * 86_400_000;
/** No event tells that a key was used. */
const pollMs = 10_000;

type Open =
  | { what: "new" }
  | { what: "created"; key: CreatedKey }
  | { what: "limit" | "revoke"; key: Key }
  | undefined;

export function KeysPage() {
  const { projectId } = route.useParams();
  // The palette opens the form by URL.
  const { create } = route.useSearch();
  const navigate = route.useNavigate();
  const queries = useQueryClient();
  const keys = useInfiniteQuery({
    ...keysQuery(projectId),
    refetchOnMount: "always",
    refetchInterval: pollMs,
  });
  const [open, setOpen] = useState<Open>();
  /** As it is now: it may have changed since its dialog was opened. */
  const current = (key: Key) => keys.data?.find(({ id }) => id === key.id) ?? key;
  const show = (next: Open) => {
    setOpen(next);
    if (create !== undefined) void navigate({ search: {}, replace: true });
  };
  const close = () => show(undefined);
  const newKey = (
    <Button look="main" icon="plus" onClick={() => setOpen({ what: "new" })}>
      New key
    </Button>
  );
  return (
    <Page
      title="API keys"
      about="Agents and exporters send traces to this project with an API key."
      actions={keys.data?.length ? newKey : null}
    >
      <Loaded query={keys}>
        {items =>
          items.length === 0 ? (
            <EmptyState icon="key" title="No API keys yet">
              <p className="quiet">Create one key per sender, so that you can revoke each separately.</p>
              {newKey}
            </EmptyState>
          ) : (
            <>
              <KeyTable
                projectId={projectId}
                keys={items}
                onLimit={key => setOpen({ what: "limit", key })}
                onRevoke={key => {
                  setOpen({ what: "revoke", key });
                  void keys.refetch();
                }}
              />
              <MorePages query={keys} />
            </>
          )
        }
      </Loaded>
      {(open?.what === "new" || (open === undefined && create === "key")) && (
        <Dialog title="New key" onClose={close}>
          <KeyForm projectId={projectId} onDone={key => show({ what: "created", key })} />
        </Dialog>
      )}
      {open?.what === "created" && (
        <ShownOnce
          noun="key"
          name={open.key.name}
          secret={open.key.key}
          environment={environmentOf(open.key.key)}
          onClose={close}
        />
      )}
      {open?.what === "limit" && (
        <Dialog title="Rate limit" onClose={close}>
          <KeyLimitForm
            projectId={projectId}
            limited={current(open.key)}
            onDone={key => {
              close();
              toast(`Rate limit of “${key.name}” saved`);
            }}
          />
        </Dialog>
      )}
      {open?.what === "revoke" && (
        <ConfirmDialog
          title="Revoke key"
          about={<RevokeAbout revoked={current(open.key)} />}
          name={open.key.name}
          send={() => revokeKey(open.key.id)}
          action="Revoke key"
          onClose={close}
          onDone={async () => {
            close();
            toast(`“${open.key.name}” revoked`);
            forgetCreatedKey(queries, projectId, open.key.id);
            await queries.invalidateQueries({ queryKey: keysQuery(projectId).queryKey });
          }}
        />
      )}
    </Page>
  );
}

type KeyTableProps = {
  projectId: string;
  keys: Key[];
  onLimit: (key: Key) => void;
  onRevoke: (key: Key) => void;
};

function KeyTable({ projectId, keys, onLimit, onRevoke }: KeyTableProps) {
  const { data: agents = [] } = useInfiniteQuery(agentsQuery(projectId));
  const nameOf = (agentId: string) => agents.find(({ id }) => id === agentId)?.name ?? agentId;
  return (
    <div className="table-wrap">
      <table className="table keys-table">
        <thead>
          <tr>
            {["Name", "Key", "Status", "Access", "Expires", "Last used", "Created"].map(heading => (
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
              <td data-label="Status">
                <Badge word={keyStates[key.status]} />
              </td>
              <td data-label="Access" className="wide">
                <span>
                  <Access access={key} nameOf={nameOf} />{" "}
                  <Button small aria-label={`Rate limit of ${key.name}`} onClick={() => onLimit(key)}>
                    {key.requestsPerMinute === null
                      ? "No rate limit"
                      : `${key.requestsPerMinute.toLocaleString("en-US")} per minute`}
                  </Button>
                </span>
              </td>
              <td data-label="Expires" className="wide">
                <Expiry at={key.expiresAt} />
              </td>
              <td data-label="Last used">
                {key.lastUsedAt ? (
                  <LastUse projectId={projectId} id={key.id} name={key.name} at={key.lastUsedAt} />
                ) : (
                  <span className="quiet">Never</span>
                )}
              </td>
              <td data-label="Created" className="wide">
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
  if (access.access === "full") return "Full Access";
  if (access.agentIds.length === 0) return <span className="text-warn">None: its agents were deleted</span>;
  return <span>Granular Access: {access.agentIds.map(nameOf).join(", ")}</span>;
}

type LastUseProps = { projectId: string; id: string; name: string; at: string };

/** Links to the key's requests in the ingestion log. */
function LastUse({ projectId, id, name, at }: LastUseProps) {
  const follow = useFollow();
  return (
    <a href={`/projects/${projectId}/ingestion?key=${id}`} ref={follow}>
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
      <span>
        <DayTime at={at} />, {relativeText(Date.parse(at), now)}
      </span>
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
        "has not been used so far."
      )}{" "}
      Requests with this key will be rejected immediately. This cannot be undone.
    </>
  );
}

/** The variables that an OpenTelemetry exporter needs, without its service name. */
function environmentOf(key: string): string {
  return [
    `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${location.origin}/public/traces`,
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf",
    `OTEL_EXPORTER_OTLP_HEADERS=x-api-key=${key}`,
    "",
  ].join("\n");
}
