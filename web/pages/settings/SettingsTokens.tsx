// The account's access tokens: listed masked, shown once when created, revoked immediately.
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { AccessToken, CreatedAccessToken } from "../../../src/http/accounts/schemas.ts";
import { AccessTokenForm } from "../../forms/AccessTokenForm.tsx";
import { ConfirmDialog } from "../../forms/ConfirmDialog.tsx";
import { ShownOnce } from "../../forms/ShownOnce.tsx";
import { keyStates } from "../../labels.ts";
import { revokeAccessToken } from "../../mutations/keys.ts";
import { accessTokensQuery } from "../../queries/access-tokens.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { EmptyState, Loaded, MorePages } from "../../ui/State.tsx";
import { DayTime, RelativeTime } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";

type Open =
  | { what: "new" }
  | { what: "created"; token: CreatedAccessToken }
  | { what: "revoke"; token: AccessToken }
  | undefined;

export function SettingsTokens() {
  const queries = useQueryClient();
  const tokens = useInfiniteQuery(accessTokensQuery);
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const newToken = (
    <Button look="main" icon="plus" onClick={() => setOpen({ what: "new" })}>
      New token
    </Button>
  );
  return (
    <section className="stack">
      <div className="line line-apart">
        <h2>Access tokens</h2>
        {tokens.data?.length ? newToken : null}
      </div>
      <p className="quiet">
        For scripts and CI. A token either reads everything in this account and starts or cancels runs, or
        erases data, nothing else. To send traces, use an API key of the project.
      </p>
      <Loaded query={tokens}>
        {items =>
          items.length === 0 ? (
            <EmptyState icon="key" title="No access tokens yet">
              <p className="quiet">Use a token in CI to run test cases and fail the build when one fails.</p>
              {newToken}
            </EmptyState>
          ) : (
            <>
              <ul className="stack">
                {items.map(token => (
                  <TokenCard
                    key={token.id}
                    token={token}
                    onRevoke={() => setOpen({ what: "revoke", token })}
                  />
                ))}
              </ul>
              <MorePages query={tokens} />
            </>
          )
        }
      </Loaded>
      {open?.what === "new" && (
        <Dialog title="New access token" onClose={close}>
          <AccessTokenForm onDone={token => setOpen({ what: "created", token })} />
        </Dialog>
      )}
      {open?.what === "created" && (
        <ShownOnce
          noun="access token"
          name={open.token.name}
          secret={open.token.token}
          environment={`SVC_TOKEN=${open.token.token}\n`}
          onClose={close}
        />
      )}
      {open?.what === "revoke" && (
        <ConfirmDialog
          title="Revoke access token"
          about={
            <>
              Requests with <code>{open.token.masked}</code> will be rejected immediately. Runs that it
              started continue. This cannot be undone.
            </>
          }
          name={open.token.name}
          send={() => revokeAccessToken(open.token.id)}
          action="Revoke token"
          onClose={close}
          onDone={async () => {
            close();
            toast(`“${open.token.name}” revoked`);
            await queries.invalidateQueries({ queryKey: accessTokensQuery.queryKey });
          }}
        />
      )}
    </section>
  );
}

function TokenCard({ token, onRevoke }: { token: AccessToken; onRevoke: () => void }) {
  return (
    <li className="card line line-apart">
      <div className="stack-tight">
        <h3>
          <bdi>{token.name}</bdi>
        </h3>
        <p className="line small">
          <code>{token.masked}</code>
          <Badge word={keyStates[token.status]} />
          {token.scope === "erasures" && <span className="quiet">Erases data</span>}
        </p>
        <p className="quiet small">
          Created <DayTime at={token.createdAt} /> ·{" "}
          {token.lastUsedAt ? (
            <>
              last used <RelativeTime at={token.lastUsedAt} />
            </>
          ) : (
            "never used"
          )}{" "}
          ·{" "}
          {token.expiresAt ? (
            <>
              {token.status === "expired" ? "expired" : "expires"} <DayTime at={token.expiresAt} />
            </>
          ) : (
            "never expires"
          )}
        </p>
      </div>
      <Button small aria-label={`Revoke ${token.name}`} onClick={onRevoke}>
        Revoke
      </Button>
    </li>
  );
}
