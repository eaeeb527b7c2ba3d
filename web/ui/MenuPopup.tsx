// The popup of a menu button, loaded on first use.
import { Menu as Base } from "@base-ui/react/menu";
import { Icon } from "./Icon.tsx";
import type { MenuEntry } from "./Menu.tsx";
import { closeUnlessOn, landmarkOf, type PopupTrigger, placement } from "./popup.ts";

type MenuPopupProps = {
  trigger: PopupTrigger;
  entries: MenuEntry[];
  onClose: () => void;
};

export default function MenuPopup({ trigger, entries, onClose }: MenuPopupProps) {
  return (
    <Base.Root open modal={false} onOpenChange={closeUnlessOn(trigger, onClose)}>
      <Base.Portal className="menu-portal" container={landmarkOf(trigger)}>
        <Base.Positioner {...placement} anchor={trigger}>
          <Base.Popup className="menu" tabIndex={0} finalFocus={trigger} aria-label={nameOf(trigger.current)}>
            {entries.map((entry, index) => (
              <Entry key={index} entry={entry} onClose={onClose} />
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function nameOf(button: HTMLElement | null): string {
  return button?.getAttribute("aria-label") ?? button?.textContent ?? "";
}

function Entry({ entry, onClose }: { entry: MenuEntry; onClose: () => void }) {
  switch (entry.kind) {
    case "action":
      return (
        <Base.Item
          className="menu-item"
          onClick={() => {
            onClose();
            entry.onChoose();
          }}
        >
          <span className="menu-tick">{entry.icon && <Icon name={entry.icon} />}</span>
          {entry.label}
        </Base.Item>
      );
    case "choice":
      return (
        <Base.Group>
          <Base.GroupLabel className="menu-label">{entry.label}</Base.GroupLabel>
          <Base.RadioGroup
            value={entry.chosen}
            onValueChange={value => {
              onClose();
              entry.onChoose(value);
            }}
          >
            {entry.choices.map(({ value, label }) => (
              <Base.RadioItem key={value} value={value} className="menu-item" closeOnClick>
                <span className="menu-tick">{value === entry.chosen && <Icon name="check" />}</span>
                {label}
              </Base.RadioItem>
            ))}
          </Base.RadioGroup>
        </Base.Group>
      );
    case "note":
      return <div className="menu-label">{entry.text}</div>;
    case "rule":
      return <Base.Separator className="menu-rule" />;
  }
}
