// What there is to know of a judgement: that a text spoke to the judge, and which model by which prompt judged.
import type { ReactNode } from "react";
import { Icon } from "../../../ui/Icon.tsx";
import { Long } from "./Value.tsx";

type FlagProps = {
  title: string;
  /** Why it is thought so. */
  reason: string;
  /** What it means. */
  children: ReactNode;
};

/** Calm, for it changes nothing. */
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

/** `promptVersion` undefined: from before prompts had versions. */
export function JudgedBy({ model, promptVersion }: { model: string; promptVersion: string | undefined }) {
  return (
    <>
      <code>{model}</code>
      {promptVersion !== undefined && (
        <>
          , prompt <code>{promptVersion}</code>
        </>
      )}
    </>
  );
}
