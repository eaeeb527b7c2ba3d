// Registers every route of the service, in one place.

import { registerAccessTokens } from "./accounts/access-tokens.ts";
import { registerAccounts } from "./accounts/accounts.ts";
import { type Auth, findSession } from "./accounts/auth.ts";
import { LocalLinks } from "./accounts/local-links.ts";
import { registerVerification } from "./accounts/verification.ts";
import { registerEmailAlerts } from "./alerts/email.ts";
import { registerWebhooks } from "./alerts/webhooks.ts";
import { registerDashboard } from "./dashboard.ts";
import { registerEvents } from "./events.ts";
import type { Background } from "./frame/background.ts";
import type { App, Deps } from "./frame/deps.ts";
import { registerOpenapi } from "./frame/openapi.ts";
import { registerSession } from "./frame/session.ts";
import { registerHealth } from "./health.ts";
import { registerIngestionLog } from "./ingestion/log.ts";
import { registerPublic } from "./ingestion/public.ts";
import { registerSampleTrace } from "./ingestion/sample-trace.ts";
import { registerAgreement } from "./judge/agreement.ts";
import { registerJudging } from "./judge/calls.ts";
import { registerJudgeConnections } from "./judge/connections.ts";
import { registerJudge } from "./judge/environment.ts";
import { registerLabelTrials } from "./judge/label-trials.ts";
import { registerLabels } from "./judge/labels.ts";
import { registerOutages } from "./judge/outages.ts";
import { registerJudgePrices } from "./judge/prices.ts";
import { registerJudgeSettings } from "./judge/settings.ts";
import { registerAgentConnections } from "./projects/agent-connections.ts";
import { registerAgents } from "./projects/agents.ts";
import { registerErasures } from "./projects/erasures.ts";
import { registerInsights } from "./projects/insights.ts";
import { registerKeys } from "./projects/keys.ts";
import { registerModelInsights } from "./projects/model-insights.ts";
import { registerOverview } from "./projects/overview.ts";
import { registerPrivacy } from "./projects/privacy.ts";
import { registerProjects } from "./projects/projects.ts";
import { registerRateLimit } from "./projects/rate-limit.ts";
import { registerRedactionInsights } from "./projects/redaction-insights.ts";
import { registerRetention } from "./projects/retention.ts";
import { registerBacktests } from "./test-cases/backtests.ts";
import { registerEditor } from "./test-cases/editor.ts";
import { registerLaunches } from "./test-cases/launches.ts";
import { registerRuns } from "./test-cases/runs.ts";
import { registerTestCases } from "./test-cases/test-cases.ts";
import { registerVersions } from "./test-cases/versions.ts";
import { registerConversations } from "./traces/conversations.ts";
import { registerTraceExport } from "./traces/export.ts";
import { registerTraceParts } from "./traces/parts.ts";
import { registerResultStates } from "./traces/result-states.ts";
import { registerTraces } from "./traces/traces.ts";
import { registerTraceViews } from "./traces/views.ts";

/** The routes of every app. The order matters: the session hook covers only routes that are registered after it. */
export async function registerBase(app: App, deps: Deps, auth: Auth, background: Background): Promise<void> {
  registerHealth(app, deps);
  await registerOpenapi(app, deps.config.baseUrl);
  registerSession(app, deps, (request, options) => findSession(auth, request, options));
  const localLinks = new LocalLinks(deps.config, deps.machine?.links);
  registerAccounts(app, deps, auth, { background, localLinks });
  registerVerification(app, deps, localLinks);
  registerProjects(app, deps);
  registerAgents(app, deps);
  registerKeys(app, deps);
  registerTestCases(app, deps);
}

/** Routes that need more than a database and a mailer: ingestion, evaluation, live data. */
export const resources = [
  registerTraces,
  registerTraceParts,
  registerConversations,
  registerTraceExport,
  registerTraceViews,
  registerResultStates,
  registerRuns,
  registerJudging,
  registerLabels,
  registerAgreement,
  registerLabelTrials,
  registerOutages,
  registerIngestionLog,
  registerInsights,
  registerModelInsights,
  registerRedactionInsights,
  registerOverview,
  registerAgentConnections,
  registerEvents,
  registerEditor,
  registerBacktests,
  registerVersions,
  registerJudge,
  registerJudgeConnections,
  registerJudgePrices,
  registerJudgeSettings,
  registerPrivacy,
  registerRateLimit,
  registerRetention,
  registerSampleTrace,
  registerAccessTokens,
  registerLaunches,
  registerWebhooks,
  registerEmailAlerts,
  registerErasures,
];

/** Ingestion, the API and the dashboard, for `buildApp`. `dashboardDir` is the folder of the built dashboard. */
export function serviceRoutes(dashboardDir: string) {
  return [registerPublic, ...resources, (app: App) => registerDashboard(app, dashboardDir)];
}
