// The sessions of the account: where it is signed in, and buttons to end sessions.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Session } from "../../../src/http/accounts/schemas.ts";
import type { Answer, Failure } from "../../api.ts";
import { endOtherSessions, endSession } from "../../mutations/account.ts";
import { sessionQuery, sessionsQuery } from "../../queries/account.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";

export function SettingsSessions() {
  const queries = useQueryClient();
  const sessions = useQuery(sessionsQuery);
  const { data: here } = useQuery(sessionQuery);
  const [busy, setBusy] = useState<string>();
  const [failure, setFailure] = useState<Failure>();

  async function end(id: string, send: () => Promise<Answer<unknown>>, done: string): Promise<void> {
    setBusy(id);
    setFailure(undefined);
    const answer = await send();
    setBusy(undefined);
    if (answer.ok) toast(done);
    else setFailure(answer.failure);
    await queries.invalidateQueries({ queryKey: sessionsQuery.queryKey });
  }

  return (
    <section className="stack">
      <h2>Sessions</h2>
      <FailureNotice failure={failure} />
      <Loaded query={sessions}>
        {items => (
          <>
            <ul className="stack">
              {[...items].sort(byUse).map(session => (
                <li key={session.id} className="card line line-apart">
                  <div className="stack-tight">
                    <h3>{deviceOf(session.userAgent)}</h3>
                    <p className="quiet small">
                      {session.ipAddress && `${session.ipAddress} · `}
                      signed in <RelativeTime at={session.createdAt} />
                    </p>
                  </div>
                  {session.id === here?.session.id ? (
                    <Badge word={{ text: "This session", icon: "check", tone: "good" }} />
                  ) : (
                    <Button
                      small
                      busy={busy === session.id}
                      aria-label={`End session: ${deviceOf(session.userAgent)}`}
                      onClick={() => void end(session.id, () => endSession(session.token), "Session ended")}
                    >
                      End
                    </Button>
                  )}
                </li>
              ))}
            </ul>
            {items.length > 1 && (
              <div>
                <Button
                  busy={busy === "others"}
                  onClick={() => void end("others", endOtherSessions, "All other sessions ended")}
                >
                  End all other sessions
                </Button>
              </div>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function byUse(one: Session, other: Session): number {
  return other.updatedAt.localeCompare(one.updatedAt);
}

/** "Firefox on Linux", as far as the user agent says. */
function deviceOf(userAgent: string | null | undefined): string {
  if (!userAgent) return "Unknown client";
  const find = (names: [pattern: RegExp, name: string][]) =>
    names.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = find([
    [/Edg\//, "Edge"],
    [/OPR\//, "Opera"],
    [/Firefox\//, "Firefox"],
    [/Chrome\//, "Chrome"],
    [/Safari\//, "Safari"],
  ]);
  const system = find([
    [/Windows/, "Windows"],
    [/Android/, "Android"],
    [/iPhone|iPad/, "iOS"],
    [/Mac OS X/, "macOS"],
    [/Linux/, "Linux"],
  ]);
  if (browser === undefined) return userAgent.slice(0, 60);
  return system === undefined ? browser : `${browser} on ${system}`;
}
