// Pass rates: short in a table, or with their 95% interval as a bar and in words.
import { intervalText, numberText, rateText } from "../format.ts";
import { Popover } from "./Popover.tsx";

type PassRateShortProps = { passed: number; of: number };

/** "90% of 20"; a dash if nothing passed or failed. */
export function PassRateShort({ passed, of }: PassRateShortProps) {
  return (
    <span>
      {rateText(of === 0 ? null : passed / of)}
      {of > 0 && <span className="quiet small"> of {numberText(of)}</span>}
    </span>
  );
}

type Rate = { passed: number; of: number; share: number; low: number; high: number };

/** "18 of 20 passed · 90% (70–97%)" with a bar: the rate as a mark within its interval. Nothing without a rate. */
export function PassRate({ rate }: { rate: Rate | null }) {
  if (rate === null) return null;
  const { passed, of, share, low, high } = rate;
  const percent = (part: number) => `${part * 100}%`;
  return (
    <span className="pass-rate">
      <span className="pass-rate-bar" aria-hidden="true">
        <span
          className="pass-rate-interval"
          style={{ insetInlineStart: percent(low), inlineSize: percent(high - low) }}
        />
        <span className="pass-rate-mark" style={{ insetInlineStart: percent(share) }} />
      </span>
      <span>
        {numberText(passed)} of {numberText(of)} passed ·{" "}
        <span className="pass-rate-share">
          {rateText(share)} <span className="quiet">({intervalText({ low, high })})</span>
        </span>
      </span>
    </span>
  );
}

/** The same with a button that explains it. */
export function PassRateLine({ rate }: { rate: Rate | null }) {
  if (rate === null) return null;
  return (
    <div className="line">
      <PassRate rate={rate} />
      <Popover
        small
        look="plain"
        icon="info"
        title="Pass rate"
        aria-label="What is the pass rate?"
        panel={() => <AboutPassRate />}
      />
    </div>
  );
}

function AboutPassRate() {
  return (
    <div className="pass-rate-about stack-tight">
      <p>
        The pass rate is the share of passed runs among those that passed or failed, failed calls of the agent
        included. Other runs do not count, nor do runs that are not fully evaluated.
      </p>
      <p>
        The range in parentheses is the 95% interval (Wilson): few runs say little about how often the agent
        passes, so the range is wide. More inputs or repeats narrow it.
      </p>
    </div>
  );
}
