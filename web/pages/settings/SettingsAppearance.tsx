// Theme setting: light, dark or system.
import { setTheme, themes, useTheme } from "../../theme.ts";
import { Choices } from "../../ui/Field.tsx";

export function SettingsAppearance() {
  const theme = useTheme();
  return (
    <section className="card">
      <Choices
        label="Theme"
        name="theme"
        choices={themes}
        chosen={[theme]}
        onChoose={([chosen]) => chosen && setTheme(chosen)}
        fault={undefined}
      />
      <p className="quiet small">Saved in this browser</p>
    </section>
  );
}
