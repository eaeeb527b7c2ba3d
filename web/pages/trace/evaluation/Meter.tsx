// A bar that shows a number against its limit. The sentence above it has both in words.

type MeterProps = {
  value: number;
  limit: number;
  /** The end of the bar; default: slightly more than the larger of the two. */
  end?: number;
  /** Whether the value is on the right side of its limit. */
  good: boolean;
};

export function Meter({ value, limit, end, good }: MeterProps) {
  const whole = end ?? (Math.max(value, limit) * 1.1 || 1);
  const percent = (part: number) => `${Math.min(100, Math.max(0, (part / whole) * 100))}%`;
  return (
    <div className="meter" data-good={good} aria-hidden="true">
      <span className="meter-fill" style={{ width: percent(value) }} />
      <span className="meter-limit" style={{ left: percent(limit) }} />
    </div>
  );
}
