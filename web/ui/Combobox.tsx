// A text input that suggests values and accepts any other text.
import { Autocomplete } from "@base-ui/react/autocomplete";
import { type ComponentProps, useRef, useState } from "react";

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
  const frame = useRef<HTMLDivElement>(null);
  // Opened on a complete value, the list shows the alternatives: it filters only once the user types.
  const [isTyping, setTyping] = useState(false);
  const [wantsOpen, setWantsOpen] = useState(false);
  const sought = isTyping ? value.toLowerCase() : "";
  const shown = completions.filter(one => one.value.toLowerCase().includes(sought)).slice(0, shownMax);
  return (
    <Autocomplete.Root
      items={shown}
      filter={null}
      itemToStringValue={one => one.value}
      value={value}
      onValueChange={(next, { reason }) => {
        // Esc on a closed list would clear the text.
        if (reason === "escape-key") return;
        setTyping(reason === "input-change");
        onValue(next);
      }}
      openOnInputClick
      open={wantsOpen && shown.length > 0}
      onOpenChange={open => {
        setWantsOpen(open);
        if (!open) setTyping(false);
      }}
    >
      <div className="combobox" ref={frame}>
        <Autocomplete.Input
          autoComplete="off"
          spellCheck={false}
          {...input}
          className={className}
          // Without suggestions Base UI counts the list as closed and reports no close.
          onBlur={() => shown.length === 0 && setWantsOpen(false)}
        />
        <Autocomplete.Portal className="menu-portal" container={frame}>
          <Autocomplete.Positioner className="menu-layer" sideOffset={4} align="start" collisionPadding={8}>
            <Autocomplete.Popup className="menu combobox-list">
              <Autocomplete.List aria-label="Suggestions">
                {(one: Completion) => (
                  <Autocomplete.Item key={one.value} value={one} className="menu-item combobox-option">
                    <span>{one.value}</span>
                    {one.note && <span className="quiet small">{one.note}</span>}
                  </Autocomplete.Item>
                )}
              </Autocomplete.List>
            </Autocomplete.Popup>
          </Autocomplete.Positioner>
        </Autocomplete.Portal>
      </div>
    </Autocomplete.Root>
  );
}
