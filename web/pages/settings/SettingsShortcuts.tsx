// Setting that switches single-key shortcuts on or off.
import { singleKeys } from "../../shell/shortcuts.ts";
import { Choices } from "../../ui/Field.tsx";
import { Keys } from "../../ui/Keys.tsx";

const choices = [
  { value: "on", label: "On" },
  { value: "off", label: "Off", note: "for speech input and assistive technology" },
] as const;

export function SettingsShortcuts() {
  return (
    <section className="card stack">
      <Choices
        label="Single-key shortcuts"
        name="single-keys"
        choices={choices}
        chosen={[singleKeys.use()]}
        onChoose={([chosen]) => chosen && singleKeys.set(chosen)}
        fault={undefined}
      />
      <p className="quiet small">
        Press <Keys keys="?" /> to list all shortcuts. Shortcuts with <Keys keys="mod" /> always work.
      </p>
    </section>
  );
}
