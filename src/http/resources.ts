// Every resource of the API that needs more than an app has by itself: one list, for the service and for tests that may leave none out.
import { registerAccessTokens } from "./access-tokens.ts";
import { registerAgentConnections } from "./agent-connections.ts";
import { registerEditor } from "./editor.ts";
import { registerEvents } from "./events.ts";
import { registerIngestionLog } from "./ingestion-log.ts";
import { registerInsights } from "./insights.ts";
import { registerJudge } from "./judge.ts";
import { registerJudgeConnections } from "./judge-connections.ts";
import { registerJudgePrices } from "./judge-prices.ts";
import { registerJudgeSettings } from "./judge-settings.ts";
import { registerJudging } from "./judging.ts";
import { registerLaunches } from "./launches.ts";
import { registerOutages } from "./outages.ts";
import { registerRuns } from "./runs.ts";
import { registerSampleTrace } from "./sample-trace.ts";
import { registerTraceParts } from "./trace-parts.ts";
import { registerTraces } from "./traces.ts";

export const resources = [
  registerTraces,
  registerTraceParts,
  registerRuns,
  registerJudging,
  registerOutages,
  registerIngestionLog,
  registerInsights,
  registerAgentConnections,
  registerEvents,
  registerEditor,
  registerJudge,
  registerJudgeConnections,
  registerJudgePrices,
  registerJudgeSettings,
  registerSampleTrace,
  registerAccessTokens,
  registerLaunches,
];
