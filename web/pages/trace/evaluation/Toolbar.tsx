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
      <Button small aria-pressed={onlyNotPassed} onClick={() => onOnly(!onlyNotPassed)}>
        Hide passed
      </Button>
      <Button small look="plain" onClick={() => onFoldAll(true)}>
        Expand all
      </Button>
      <Button small look="plain" onClick={() => onFoldAll(false)}>
        Collapse all
      </Button>
      {failed > 0 && (
        <span className="line">
          <span className="quiet small">{counted(failed, "failed check")}</span>
          <Button
            small
            className="turned"
            icon="chevron"
            aria-label="Previous failed check"
            title="Previous failed check (p)"
            onClick={() => onGo(-1)}
          />
          <Button
            small
            icon="chevron"
            aria-label="Next failed check"
            title="Next failed check (n)"
            onClick={() => onGo(1)}
          />
        </span>
      )}
    </div>
  );
}
