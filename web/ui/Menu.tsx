// A button that opens a menu of actions and choices. The menu's code is loaded on first use.
import { Button, type ButtonProps } from "./Button.tsx";
import type { IconName } from "./icons.ts";
import { closeNotLoaded, lazyPart } from "./lazy-part.tsx";
import { usePopup } from "./popup.ts";

export type MenuEntry =
  | { kind: "action"; icon?: IconName; label: string; onChoose: () => void }
  | {
      kind: "choice";
      label: string;
      chosen: string;
      choices: readonly { value: string; label: string }[];
      onChoose: (value: string) => void;
    }
  | { kind: "note"; text: string }
  | { kind: "rule" };

const load = () => import("./MenuPopup.tsx");
const MenuPopup = lazyPart(load, closeNotLoaded);

type MenuProps = Omit<ButtonProps, "onClick" | "ref"> & { entries: MenuEntry[] };

/** All props except `entries` go to the button. */
export function Menu({ entries, ...button }: MenuProps) {
  const popup = usePopup(load);
  return (
    <>
      <Button {...button} {...popup.button} aria-haspopup="menu" />
      {popup.open && <MenuPopup trigger={popup.trigger} entries={entries} onClose={popup.close} />}
    </>
  );
}
