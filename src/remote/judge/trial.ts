// Lines on which a judge is tried: each for one way of asking, sharing nothing with those that judge traces.
import type { Logger } from "pino";
import type { JudgeConnection, JudgeLine, JudgeMode } from "../../model/judge/call.ts";
import type { Outbound } from "../outbound.ts";
import { judgeFetch } from "./fetch.ts";

/** Opens what `probeJudge` needs. `typed`: the address is a user's, so only public and allowed places are called. */
export type OpenTrialLine = (
  connection: JudgeConnection,
  options: { typed: boolean },
) => Promise<(mode: JudgeMode) => Pick<JudgeLine, "judge" | "route">>;

type Means = { outbound: Pick<Outbound, "fetch">; log: Pick<Logger, "info" | "warn"> };

export function trialLines({ outbound, log }: Means): OpenTrialLine {
  return async (connection, { typed }) => {
    // Loaded when somebody first asks: judging itself happens on threads of its own.
    const { openLine } = await import("./client.ts");
    const fetch = typed ? { fetch: judgeFetch(outbound, connection.timeoutMs) } : {};
    // What others ask meanwhile is none of its business.
    const alone = { ...connection, concurrency: 1, tokensPerMinute: null };
    return mode => openLine(alone, { log, mode, ...fetch });
  };
}
