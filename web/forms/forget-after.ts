// After how long content is forgotten, as the form has it: one of a few times, or an amount of minutes, hours or days.

export const forgetTimes = [
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "1 day" },
  { value: "604800", label: "1 week" },
  { value: "custom", label: "Custom" },
] as const;

export const forgetUnits = [
  { value: "minutes", seconds: 60 },
  { value: "hours", seconds: 3_600 },
  { value: "days", seconds: 86_400 },
] as const;

type Time = (typeof forgetTimes)[number]["value"];
type Unit = (typeof forgetUnits)[number]["value"];

/** `amount` and `unit` of a custom time. */
export type ForgetAfter = { time: Time; amount: string; unit: Unit };

/** Of the stored time; of a day where there is none. */
export function forgetAfterOf(seconds: number | null): ForgetAfter {
  const stored = seconds ?? 86_400;
  const time = forgetTimes.find(({ value }) => value === String(stored))?.value ?? "custom";
  const unit = forgetUnits.findLast(one => stored % one.seconds === 0) ?? forgetUnits[0];
  return { time, amount: String(stored / unit.seconds), unit: unit.value };
}

/** Null if the amount is no number. */
export function secondsOf({ time, amount, unit }: ForgetAfter): number | null {
  if (time !== "custom") return Number(time);
  const seconds = Math.round(Number(amount) * forgetUnits.find(({ value }) => value === unit)!.seconds);
  return amount.trim() === "" || !Number.isFinite(seconds) ? null : seconds;
}
