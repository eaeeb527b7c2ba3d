// Field for a limit of requests per minute; empty: no limit.
import { Field, type FieldProps } from "../ui/Field.tsx";
import { textOf } from "./submit.ts";

const requestsPerMinuteMax = 1_000_000;

type RateLimitFieldProps = Pick<FieldProps, "defaultValue" | "value" | "onChange" | "hint" | "fault">;

export function RateLimitField(field: RateLimitFieldProps) {
  return (
    <Field
      label="Requests per minute (optional)"
      name="requestsPerMinute"
      type="number"
      min={1}
      max={requestsPerMinuteMax}
      step={1}
      {...field}
    />
  );
}

export function rateLimitIn(fields: FormData): number | null {
  const text = textOf(fields, "requestsPerMinute").trim();
  return text === "" ? null : Number(text);
}
