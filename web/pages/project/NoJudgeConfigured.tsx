// Notice that no judge is configured, and what is not evaluated without one.
import { Notice } from "../../ui/Notice.tsx";

export function NoJudgeConfigured() {
  return (
    <Notice tone="info">
      <p>
        <strong>No judge configured.</strong> Semantic checks are skipped, and “Run when relevant” tests do
        not run. Everything else is evaluated as usual.
      </p>
    </Notice>
  );
}
