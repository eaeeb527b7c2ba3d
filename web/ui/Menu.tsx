// A button that opens a menu of actions and choices. The menu's code is loaded on first use.
import { lazy, Suspense } from "react";
import { Button, type ButtonProps } from "./Button.tsx";
import type { IconName } from "./icons.ts";
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
const MenuPopup = lazy(load);

type MenuProps = Omit<ButtonProps, "onClick" | "ref"> & { entries: MenuEntry[] };

/** All props except `entries` go to the button. */
export function Menu({ entries, ...button }: MenuProps) {
  const popup = usePopup(load);
  return (
    <>
      <Button {...button} {...popup.button} aria-haspopup="menu" />
      {popup.open && (
        <Suspense>
          <MenuPopup trigger={popup.trigger} entries={entries} onClose={popup.close} />
        </Suspense>
      )}
    </>
  );
}
