// Explains a threshold in words: how many criteria may fall short before the outcome changes.

/** In hundredths: how much each lesser verdict on one criterion reduces the sum of the scores. */
const losses = { mostly: 25, partly: 60, not_met: 100 };

export type Leeway = Record<keyof typeof losses, number>;

/** For each lesser verdict: how many of `count` criteria may have it if all others are met. */
export function leewayOf(threshold: number, count: number): Leeway {
  const room = (1 - threshold) * count * 100;
  // 1e-7 absorbs rounding errors, so that a criterion that fits exactly is counted.
  const fitting = (loss: number) => Math.min(count, Math.floor(room / loss + 1e-7));
  return { mostly: fitting(losses.mostly), partly: fitting(losses.partly), not_met: fitting(losses.not_met) };
}

/** One or two sentences; `negate`: replies fail if any criterion reaches the threshold. */
export function thresholdText(threshold: number, count: number, negate: boolean): string {
  const [reaching, missing] = negate ? ["Fails", "Passes"] : ["Passes", "Fails"];
  const { mostly, partly, not_met } = leewayOf(threshold, count);
  if (not_met === count) return `Always ${reaching.toLowerCase()}, whatever the judge says.`;
  if (count === 1 || negate) {
    const { mostly, partly } = leewayOf(threshold, 1);
    const enough = partly ? "met, mostly met or partly met" : mostly ? "met or mostly met" : "fully met";
    const short = partly ? "not met" : mostly ? "only partly met" : "only mostly met";
    if (count === 1) return `${reaching} if the criterion is ${enough}. ${missing} if it is ${short}.`;
    return `Fails if any criterion is ${enough}. Passes if all are ${short.replace("only", "at most")}.`;
  }
  const all = count === 2 ? "both" : `all ${count}`;
  if (mostly === 0) return `${reaching} only if ${all} are fully met.`;
  const of = (number: number, short: string) =>
    number === count ? `${all} are ${short}` : `${number} ${number === 1 ? "is" : "are"} ${short}`;
  const ways = [
    of(mostly, "only mostly met"),
    ...(partly ? [of(partly, "only partly met")] : []),
    ...(not_met ? [of(not_met, "not met")] : []),
  ];
  const others = partly < count || not_met > 0 ? " and the others are fully met" : "";
  const limit = not_met
    ? `more than ${not_met} ${not_met === 1 ? "is" : "are"} not met`
    : `one is ${partly ? "not met" : "only partly met"}`;
  return `${reaching} even if ${listed(ways)}${others}. ${missing} if ${limit}.`;
}

function listed(ways: string[]): string {
  return ways.length < 3 ? ways.join(" or ") : `${ways.slice(0, -1).join(", ")} or ${ways.at(-1)}`;
}
