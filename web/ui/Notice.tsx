// A highlighted notice with the icon of its tone.
import type { ReactNode } from "react";
import type { Failure } from "../api.ts";
import { Icon } from "./Icon.tsx";
import type { IconName } from "./icons.ts";

type Tone = "info" | "good" | "warn" | "bad";

const icons: Record<Tone, IconName> = { info: "info", good: "check", warn: "warning", bad: "warning" };

type NoticeProps = { tone: Tone; role?: "alert" | "status"; children: ReactNode };

export function Notice({ tone, role, children }: NoticeProps) {
  return (
    <div className="notice" data-tone={tone} role={role}>
      <Icon name={icons[tone]} />
      <div>{children}</div>
    </div>
  );
}

const listedIssues = 10;

/** Why a request failed, with its issues: pass only those that no field shows. */
export function FailureNotice({ failure }: { failure: Failure | undefined }) {
  if (!failure) return null;
  const { message, hint, code, requestId } = failure;
  // A single issue may be all that the message says.
  const issues = (failure.issues ?? []).filter(issue => issue.message !== message);
  return (
    <Notice tone="bad" role="alert">
      <p>
        {message} {hint}
      </p>
      {issues.length > 0 && (
        <ul className="break">
          {issues.slice(0, listedIssues).map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              {path !== "" && <code>{path}: </code>}
              {message}
            </li>
          ))}
        </ul>
      )}
      <p className="quiet small">
        {code}
        {requestId && ` · request ${requestId}`}
      </p>
    </Notice>
  );
}
