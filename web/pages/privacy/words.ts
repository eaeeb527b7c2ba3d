// How the privacy settings name the built-in rules.
import type { Choice } from "../../ui/Field.tsx";

export const allRules = "*";

export const ruleChoices: Choice<string>[] = [
  { value: allRules, label: "All built-in rules", note: "Also those of later versions." },
  { value: "email", label: "Email addresses", note: "becomes ⟦email⟧" },
  {
    value: "phone",
    label: "Phone numbers",
    note: "international, and as people write them; becomes ⟦phone⟧",
  },
  { value: "card", label: "Payment cards", note: "with a valid check digit; becomes ⟦card⟧" },
  { value: "iban", label: "IBANs", note: "with valid check digits; becomes ⟦iban⟧" },
  { value: "ip", label: "IP addresses", note: "IPv4 and IPv6; becomes ⟦ip⟧" },
  { value: "ssn", label: "US social security numbers", note: "becomes ⟦ssn⟧" },
  {
    value: "secret",
    label: "Keys, tokens and passwords",
    note: "known formats, and what follows such a word; becomes ⟦secret⟧",
  },
];

/** "All" stands alone: choosing it takes the others along, choosing another gives it up. */
export function withAll(next: string[]): string[] {
  return next.at(-1) === allRules ? [allRules] : next.filter(name => name !== allRules);
}
