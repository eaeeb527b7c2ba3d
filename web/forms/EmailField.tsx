// The email by which an account signs in.
import type { ReactNode } from "react";
import { Field } from "../ui/Field.tsx";

type EmailFieldProps = {
  hint?: ReactNode;
  maxLength?: number;
  value?: string;
  readOnly?: boolean;
  fault: string | undefined;
};

export function EmailField(props: EmailFieldProps) {
  return <Field label="Email" name="email" type="email" required autoComplete="username" {...props} />;
}
