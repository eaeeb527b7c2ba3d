// A button that opens a menu of actions and choices. The menu's code is loaded on first use.
import { lazy, Suspense, useRef, useState } from "react";
import { Button, type ButtonProps } from "./Button.tsx";
import type { IconName } from "./Icon.tsx";

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
const MenuPopup = lazy(load);

type MenuProps = Omit<ButtonProps, "onClick" | "ref"> & { entries: MenuEntry[] };

/** All props except `entries` go to the button. */
export function Menu({ entries, ...button }: MenuProps) {
  const trigger = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button
        {...button}
        ref={trigger}
        aria-haspopup="menu"
        aria-expanded={open}
        onPointerEnter={() => void load()}
        onFocus={() => void load()}
        onClick={() => setOpen(!open)}
      />
      {open && (
        <Suspense>
          <MenuPopup trigger={trigger} entries={entries} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
