// Notice above a form's Save button: the settings were saved elsewhere since the form was opened.
import { Notice } from "../ui/Notice.tsx";

export function OutdatedNotice({ isOutdated }: { isOutdated: boolean }) {
  if (!isOutdated) return null;
  return (
    <Notice tone="warn" role="status">
      These settings were saved elsewhere since you opened them. Saving overwrites them; discarding your
      changes loads them.
    </Notice>
  );
}
