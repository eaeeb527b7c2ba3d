// Notes on a verdict: a text that seems addressed to the judge; the model and prompt version that judged.
import type { ReactNode } from "react";
import { Icon } from "../../../ui/Icon.tsx";
import { Long } from "./Value.tsx";

type FlagProps = {
  title: string;
  /** Why the text was flagged. */
  reason: string;
  /** What that means. */
  children: ReactNode;
};

/** In quiet colors, because the flag changes no outcome. */
export function Flag({ title, reason, children }: FlagProps) {
  return (
    <div className="flag small">
      <Icon name="info" />
      <p>
        <strong>{title}</strong> <Long text={reason} /> <span className="quiet">{children}</span>
      </p>
    </div>
  );
}

export function JudgedBy({ model, promptVersion }: { model: string; promptVersion: string }) {
  return (
    <>
      <code>{model}</code>, prompt <code>{promptVersion}</code>
    </>
  );
}
