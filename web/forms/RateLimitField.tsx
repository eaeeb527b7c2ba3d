// Field for a limit of requests per minute; empty: no limit.
import { Field } from "../ui/Field.tsx";
import { textOf } from "./submit.ts";

const requestsPerMinuteMax = 1_000_000;

type RateLimitFieldProps = { saved: number | null; hint: string; fault: string | undefined };

export function RateLimitField({ saved, hint, fault }: RateLimitFieldProps) {
  return (
    <Field
      label="Requests per minute (optional)"
      name="requestsPerMinute"
      type="number"
      min={1}
      max={requestsPerMinuteMax}
      step={1}
      defaultValue={saved ?? ""}
      hint={hint}
      fault={fault}
    />
  );
}

export function rateLimitIn(fields: FormData): number | null {
  const text = textOf(fields, "requestsPerMinute").trim();
  return text === "" ? null : Number(text);
}
