// Labels that the judge does not agree with: first those that hide a fault, then those that raise a false alarm.
import type { ListedLabel } from "../../../src/http/judge/label-schemas.ts";
import { RelativeTime } from "../../ui/Time.tsx";
import { hidesFault, judgeText } from "./agreement.ts";
import { LabelItem } from "./LabelItem.tsx";

export function Disagreements({ labels, projectId }: { labels: ListedLabel[]; projectId: string }) {
  const isHiding = ({ judged }: ListedLabel) => hidesFault(judged);
  const sorted = [...labels.filter(isHiding), ...labels.filter(label => !isHiding(label))];
  return (
    <ul className="labels-list" aria-label="Answers that people call wrong">
      {sorted.map(label => (
        <LabelItem
          key={label.id}
          label={label}
          projectId={projectId}
          aside={
            <span className="quiet small">
              <RelativeTime at={label.updatedAt} />
            </span>
          }
        >
          {label.note !== "" && <p className="labels-note">{label.note}</p>}
          <p className="quiet small">
            {judgeText(label)}
            {label.testVersion !== null && `, test version ${label.testVersion}`}
          </p>
        </LabelItem>
      ))}
    </ul>
  );
}
