// The account's access tokens: listed masked, shown once when made, revoked at once.

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
  | { what: "made"; token: CreatedAccessToken }
  | { what: "revoke"; token: AccessToken }
  | undefined;

export function SettingsTokens() {
  const queries = useQueryClient();
  const tokens = useInfiniteQuery(accessTokensQuery);
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const make = (
    <Button look="main" icon="plus" onClick={() => setOpen({ what: "new" })}>
      New token
    </Button>
  );
  return (
    <section className="stack">
      <div className="line line-apart">
        <h2>Access tokens</h2>
        {tokens.data?.length ? make : null}
      </div>
      <p className="quiet">
        For scripts and CI: a token reads all that this account may read, and starts and cancels runs. It
        changes nothing else. Agents send their traces with a key of their project instead.
      </p>
      <Loaded query={tokens}>
        {items =>
          items.length === 0 ? (
            <EmptyState icon="key" title="No access token yet">
              <p className="quiet">With one, CI runs test cases and fails a build when they do.</p>
              {make}
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
          <AccessTokenForm onDone={token => setOpen({ what: "made", token })} />
        </Dialog>
      )}
      {open?.what === "made" && (
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
              <code>{open.token.masked}</code>: from this moment on, requests with it are refused. Runs that
              it started go on. This cannot be undone.
            </>
          }
          name={open.token.name}
          send={() => revokeAccessToken(open.token.id)}
          action="Revoke token"
          onClose={close}
          onDone={async () => {
            close();
            toast(`“${open.token.name}” is revoked.`);
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
        </p>
        <p className="quiet small">
          Made <DayTime at={token.createdAt} /> ·{" "}
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
