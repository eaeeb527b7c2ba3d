// A text input that offers completions; any other text is as good.
import { type ComponentProps, type KeyboardEvent, useEffect, useId, useRef, useState } from "react";

export type Completion = {
  value: string;
  /** Beside it, quietly: how often it was seen, an example. */
  note?: string | undefined;
};

type ComboboxProps = Omit<ComponentProps<"input">, "value" | "onChange" | "role"> & {
  value: string;
  onValue: (value: string) => void;
  completions: readonly Completion[];
};

const shownMax = 50;

export function Combobox({ value, onValue, completions, className = "input", ...input }: ComboboxProps) {
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  // Opened on a value that is already one of them, the others are what is wanted.
  const [typed, setTyped] = useState(false);
  const sought = typed ? value.toLowerCase() : "";
  const shown = completions.filter(one => one.value.toLowerCase().includes(sought)).slice(0, shownMax);
  const isOpen = open && shown.length > 0;
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);

  const close = () => {
    setOpen(false);
    setActive(-1);
    setTyped(false);
  };
  const choose = (completion: Completion) => {
    onValue(completion.value);
    close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && shown.length > 0) {
      event.preventDefault();
      setOpen(true);
      if (isOpen) setActive(at => (at + step + shown.length + (at < 0 && step < 0 ? 1 : 0)) % shown.length);
      else setActive(step > 0 ? 0 : shown.length - 1);
    } else if (event.key === "Enter" && isOpen && shown[active]) {
      event.preventDefault();
      choose(shown[active]);
    } else if (event.key === "Escape" && isOpen) {
      event.stopPropagation();
      close();
    }
  };

  return (
    <div className="combobox">
      <input
        autoComplete="off"
        spellCheck={false}
        {...input}
        className={className}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={isOpen ? listId : undefined}
        aria-activedescendant={isOpen && active >= 0 ? `${listId}-${active}` : undefined}
        value={value}
        onChange={event => {
          onValue(event.target.value);
          setTyped(true);
          setOpen(true);
          setActive(-1);
        }}
        onClick={() => setOpen(true)}
        onKeyDown={onKeyDown}
        onBlur={close}
      />
      {isOpen && (
        <div ref={list} id={listId} role="listbox" aria-label="Completions" className="menu combobox-list">
          {shown.map((completion, at) => (
            <div
              key={completion.value}
              id={`${listId}-${at}`}
              role="option"
              tabIndex={-1}
              aria-selected={at === active}
              className="menu-item combobox-option"
              data-highlighted={at === active ? "" : undefined}
              // The focus stays in the input.
              onPointerDown={event => event.preventDefault()}
              onClick={() => choose(completion)}
              onKeyDown={onKeyDown}
            >
              <span>{completion.value}</span>
              {completion.note && <span className="quiet small">{completion.note}</span>}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
