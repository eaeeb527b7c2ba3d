// A bar that shows a number against its limit, with the same in words and numbers.
import { Icon } from "../../../ui/Icon.tsx";

type MeterProps = {
  name: string;
  value: number;
  limit: number;
  /** The end of the bar; default: slightly more than the larger of the two. */
  end?: number;
  /** "380, limit 400". */
  text: string;
  /** Whether the value is on the right side of its limit. */
  good: boolean;
  /** The result in words: "Within the limit", "Over by 20". */
  word: string;
};

export function Meter({ name, value, limit, end, text, good, word }: MeterProps) {
  const whole = end ?? (Math.max(value, limit) * 1.1 || 1);
  const percent = (part: number) => `${Math.min(100, Math.max(0, (part / whole) * 100))}%`;
  return (
    <div className="meter" data-good={good}>
      <div className="line line-apart">
        <span>{name}</span>
        <span className="meter-word">
          <Icon name={good ? "check" : "cross"} />
          {word}
        </span>
      </div>
      <div className="meter-bar" aria-hidden="true">
        <span className="meter-fill" style={{ width: percent(value) }} />
        <span className="meter-limit" style={{ left: percent(limit) }} />
      </div>
      <div className="quiet small">{text}</div>
    </div>
  );
}
