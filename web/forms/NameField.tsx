// Field for the name of the item that a form creates or edits.
import { Field, type FieldProps } from "../ui/Field.tsx";

export function NameField(field: Pick<FieldProps, "defaultValue" | "value" | "onChange" | "fault" | "hint">) {
  return <Field label="Name" name="name" required maxLength={200} autoComplete="off" {...field} />;
}
