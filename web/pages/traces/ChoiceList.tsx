// A list of choices of which one may be chosen, with arrow keys.
import type { KeyboardEvent } from "react";
import { Icon } from "../../ui/Icon.tsx";

type ChoiceListProps = {
  choices: readonly { value: string; label: string }[];
  chosen: string | undefined;
  onChoose: (value: string) => void;
};

export function ChoiceList({ choices, chosen, onChoose }: ChoiceListProps) {
  const onKeyDown = (event: KeyboardEvent<HTMLUListElement>) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const buttons = [...event.currentTarget.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    buttons.at((at + step) % buttons.length)?.focus();
  };
  return (
    <ul onKeyDown={onKeyDown}>
      {choices.map(({ value, label }) => (
        <li key={value}>
          <button
            type="button"
            className="menu-item panel-item"
            aria-pressed={value === chosen}
            onClick={() => onChoose(value)}
          >
            <span className="menu-tick">{value === chosen && <Icon name="check" />}</span>
            <bdi>{label}</bdi>
          </button>
        </li>
      ))}
    </ul>
  );
}
