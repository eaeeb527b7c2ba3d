// Password field with a button that shows the password.
import { useState } from "react";
import { Button } from "../ui/Button.tsx";
import { Field } from "../ui/Field.tsx";

/** The API's limits. */
const lengths = { minLength: 8, maxLength: 128 };

type PasswordFieldProps = {
  label: string;
  name: string;
  fault: string | undefined;
  /** For a new password: enforces the length. */
  fresh?: boolean;
};

export function PasswordField({ label, name, fault, fresh = false }: PasswordFieldProps) {
  const [shown, setShown] = useState(false);
  return (
    <div className="stack-tight">
      <Field
        label={label}
        name={name}
        type={shown ? "text" : "password"}
        required
        {...(fresh && lengths)}
        hint={fresh && `At least ${lengths.minLength} characters.`}
        fault={fault}
        autoComplete={fresh ? "new-password" : "current-password"}
        spellCheck={false}
        autoCapitalize="none"
      />
      <div>
        <Button look="link" small onClick={() => setShown(!shown)}>
          {shown ? "Hide" : "Show"} {label.toLowerCase()}
        </Button>
      </div>
    </div>
  );
}
