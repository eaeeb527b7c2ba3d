// Labels to look at: first those whose answers may hide a fault, then those that may raise a false alarm.
import type { ListedLabel } from "../../../src/http/judge/label-schemas.ts";
import { RelativeTime } from "../../ui/Time.tsx";
import { hidesFault, judgeText } from "./agreement.ts";
import { LabelItem } from "./LabelItem.tsx";

type DisagreementsProps = { labels: ListedLabel[]; projectId: string; name: string };

export function Disagreements({ labels, projectId, name }: DisagreementsProps) {
  const isHiding = ({ judged }: ListedLabel) => hidesFault(judged);
  const sorted = [...labels.filter(isHiding), ...labels.filter(label => !isHiding(label))];
  return (
    <ul className="labels-list" aria-label={name}>
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
            {label.createdBy && (
              <>
                , labeled by <bdi>{label.createdBy.name}</bdi>
              </>
            )}
          </p>
        </LabelItem>
      ))}
    </ul>
  );
}
