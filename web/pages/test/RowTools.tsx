// The buttons of an item in an ordered list: move up, move down, duplicate, remove.
import { Button } from "../../ui/Button.tsx";

type RowToolsProps = {
  /** The item, for the buttons' accessible names. */
  name: string;
  isFirst: boolean;
  isLast: boolean;
  onMove: (by: -1 | 1) => void;
  onCopy?: () => void;
  onRemove: () => void;
};

/** `data-part` marks where the focus goes after a move. */
export function RowTools({ name, isFirst, isLast, onMove, onCopy, onRemove }: RowToolsProps) {
  return (
    <div className="line editor-tools">
      <Button
        look="plain"
        small
        icon="up"
        aria-label={`Move ${name} up`}
        data-part="up"
        busy={isFirst}
        onClick={() => onMove(-1)}
      />
      <Button
        look="plain"
        small
        icon="chevron"
        aria-label={`Move ${name} down`}
        data-part="down"
        busy={isLast}
        onClick={() => onMove(1)}
      />
      {onCopy && <Button look="plain" small icon="copy" aria-label={`Duplicate ${name}`} onClick={onCopy} />}
      <Button look="plain" small icon="trash" aria-label={`Remove ${name}`} onClick={onRemove} />
    </div>
  );
}
