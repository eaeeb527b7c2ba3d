// A text input that suggests values and accepts any other text.
import { Autocomplete } from "@base-ui/react/autocomplete";
import { type ComponentProps, useState } from "react";

export type Completion = {
  value: string;
  /** Shown beside the value: how often it was seen, or an example. */
  note?: string | undefined;
};

type ComboboxProps = Omit<ComponentProps<"input">, "value" | "onChange" | "className"> & {
  value: string;
  onValue: (value: string) => void;
  completions: readonly Completion[];
  className?: string;
};

const shownMax = 50;

export function Combobox({ value, onValue, completions, className = "input", ...input }: ComboboxProps) {
  // Opened on a complete value, the list shows the alternatives: it filters only once the user types.
  const [isTyping, setTyping] = useState(false);
  const [wantsOpen, setWantsOpen] = useState(false);
  const sought = isTyping ? value.toLowerCase() : "";
  const shown = completions.filter(one => one.value.toLowerCase().includes(sought)).slice(0, shownMax);
  const isOpen = wantsOpen && shown.length > 0;
  const openOrClose = (open: boolean) => {
    setWantsOpen(open);
    if (!open) setTyping(false);
  };
  return (
    <Autocomplete.Root
      items={shown}
      filter={null}
      value={value}
      onValueChange={(next, { reason }) => {
        // Esc on a closed list would clear the text.
        if (reason !== "input-change") return;
        setTyping(true);
        onValue(next);
      }}
      openOnInputClick
      open={isOpen}
      onOpenChange={openOrClose}
    >
      <div className="combobox">
        <Autocomplete.Input
          autoComplete="off"
          spellCheck={false}
          {...input}
          className={className}
          onBlur={() => openOrClose(false)}
        />
        {/* Not in a popup of Base UI, which hides the rest of the page, the field's label included, from screen readers. */}
        {isOpen && (
          <Autocomplete.List
            aria-label="Suggestions"
            className="menu combobox-list"
            // A press on the scroll bar must not take the focus, which would close the list.
            onMouseDown={event => event.preventDefault()}
          >
            {(one: Completion) => (
              <Autocomplete.Item
                key={one.value}
                value={one}
                className="menu-item combobox-option"
                onClick={() => onValue(one.value)}
              >
                <span>{one.value}</span>
                {one.note && <span className="quiet small">{one.note}</span>}
              </Autocomplete.Item>
            )}
          </Autocomplete.List>
        )}
      </div>
    </Autocomplete.Root>
  );
}
