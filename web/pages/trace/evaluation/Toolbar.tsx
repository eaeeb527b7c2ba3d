// Toolbar above the tests: filter, expand and collapse, previous and next failed check.
import { counted } from "../../../labels.ts";
import { Button } from "../../../ui/Button.tsx";

type ToolbarProps = {
  failed: number;
  onlyNotPassed: boolean;
  onOnly: (on: boolean) => void;
  onFoldAll: (open: boolean) => void;
  onGo: (step: 1 | -1) => void;
};

export function Toolbar({ failed, onlyNotPassed, onOnly, onFoldAll, onGo }: ToolbarProps) {
  return (
    <div className="line evaluation-tools">
      {failed > 0 && (
        <span className="line">
          <Button
            small
            className="turned"
            icon="chevron"
            aria-label="Previous failed check"
            title="Previous failed check  p"
            onClick={() => onGo(-1)}
          />
          <Button
            small
            icon="chevron"
            aria-label="Next failed check"
            title="Next failed check  n"
            onClick={() => onGo(1)}
          />
          <span className="quiet small">{counted(failed, "failed check")}</span>
        </span>
      )}
      <span className="line evaluation-folds">
        <Button small aria-pressed={onlyNotPassed} onClick={() => onOnly(!onlyNotPassed)}>
          Hide passed
        </Button>
        <Button
          small
          look="plain"
          icon="unfold"
          aria-label="Expand all"
          title="Expand all"
          onClick={() => onFoldAll(true)}
        />
        <Button
          small
          look="plain"
          icon="fold"
          aria-label="Collapse all"
          title="Collapse all"
          onClick={() => onFoldAll(false)}
        />
      </span>
    </div>
  );
}
