// Dialog that lists the keyboard shortcuts of the current page.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Dialog } from "../ui/Dialog.tsx";
import { Keys } from "../ui/Keys.tsx";
import { Notice } from "../ui/Notice.tsx";
import { singleKeys, workingShortcuts } from "./shortcuts.ts";

export default function Help({ onClose }: { onClose: () => void }) {
  const [shortcuts] = useState(workingShortcuts);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      {singleKeys.use() === "off" && (
        <Notice tone="info">
          Single-key shortcuts are off. Switch them on in{" "}
          <Link to="/settings/shortcuts" onClick={onClose}>
            settings
          </Link>
          .
        </Notice>
      )}
      <dl className="keys-list">
        {shortcuts.map(({ keys, label }) => (
          <div key={keys}>
            <dt>{label}</dt>
            <dd>
              <Keys keys={keys} />
            </dd>
          </div>
        ))}
        <div>
          <dt>Close a dialog or menu</dt>
          <dd>
            <Keys keys="Esc" />
          </dd>
        </div>
      </dl>
    </Dialog>
  );
}
