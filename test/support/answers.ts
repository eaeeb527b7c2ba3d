// What each route of the API answers: one schema for each path and method, apart from DELETE, which answers nothing.
import { z } from "zod";
import * as accounts from "../../src/http/accounts/schemas.ts";
import * as alerts from "../../src/http/alerts/schemas.ts";
import { Id, pageSchema as pageOf } from "../../src/http/frame/schemas.ts";
import * as ingestion from "../../src/http/ingestion/schemas.ts";
import * as agreement from "../../src/http/judge/agreement-schemas.ts";
import * as labels from "../../src/http/judge/label-schemas.ts";
import * as judge from "../../src/http/judge/schemas.ts";
import * as privacy from "../../src/http/privacy-schemas.ts";
import * as erasures from "../../src/http/projects/erasure-schemas.ts";
import * as insights from "../../src/http/projects/insights-schemas.ts";
import * as modelInsights from "../../src/http/projects/model-insights-schemas.ts";
import * as overview from "../../src/http/projects/overview-schemas.ts";
import * as redactionInsights from "../../src/http/projects/redaction-insights-schemas.ts";
import * as retention from "../../src/http/projects/retention-schemas.ts";
import * as projects from "../../src/http/projects/schemas.ts";
import * as backtests from "../../src/http/test-cases/backtest-schemas.ts";
import * as editor from "../../src/http/test-cases/editor-schemas.ts";
import * as launches from "../../src/http/test-cases/launch-schemas.ts";
import * as tests from "../../src/http/test-cases/schemas.ts";
import * as conversation from "../../src/http/traces/conversation-schemas.ts";
import * as conversations from "../../src/http/traces/conversations-schemas.ts";
import * as traces from "../../src/http/traces/schemas.ts";
import * as views from "../../src/http/traces/view-schemas.ts";

const itemsOf = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item) });

type Described = {
  paths: Record<string, Record<string, object>>;
  components: Record<string, Record<string, { name?: string }>>;
};

/** test/http/openapi.test.ts compares it with the service's routes. */
export const answers = {
  "/metrics": { GET: z.string() },
  "/api/openapi.json": { GET: z.custom<Described>() },
  "/api/access-tokens": { GET: pageOf(accounts.AccessToken), POST: accounts.CreatedAccessToken },
  "/api/agents/:id": { GET: projects.Agent, PATCH: projects.Agent },
  "/api/agents/:id/backtests": { POST: backtests.BacktestDetail, GET: pageOf(backtests.Backtest) },
  "/api/agents/:id/backtests/estimate": { POST: backtests.BacktestEstimate },
  "/api/agents/:id/connection": { GET: projects.AgentConnection, PUT: projects.AgentConnection },
  "/api/agents/:id/connection/test": { POST: projects.AgentTrial },
  "/api/agents/:id/conventions": { GET: projects.AgentConventions },
  "/api/agents/:id/conversation": { GET: conversations.ConversationTurns },
  "/api/agents/:id/conversations": { GET: conversations.ConversationPage },
  "/api/agents/:id/insights": { GET: insights.Insights },
  "/api/agents/:id/insights/models": { GET: modelInsights.ModelInsights },
  "/api/agents/:id/insights/redactions": { GET: redactionInsights.RedactionInsights },
  "/api/agents/:id/judge-again": { POST: judge.JudgedAgain },
  "/api/agents/:id/judge-settings": { GET: judge.JudgeSettings, PUT: judge.JudgeSettings },
  "/api/agents/:id/judging": { GET: judge.JudgeUsage },
  "/api/agents/:id/last-rejection": { GET: z.object({ rejection: ingestion.LastRejection.nullable() }) },
  "/api/agents/:id/launches": { POST: launches.Launch, GET: pageOf(launches.Launch) },
  "/api/agents/:id/launches/estimate": { POST: launches.LaunchEstimate },
  "/api/agents/:id/outages": { GET: judge.Outages },
  "/api/agents/:id/overview": { GET: overview.Overview },
  "/api/agents/:id/sample-trace": {
    POST: z.object({ traceId: Id, evaluation: z.enum(["scheduled", "none"]) }),
  },
  "/api/agents/:id/tests": { GET: pageOf(tests.ListedTest), POST: tests.ListedTest },
  "/api/agents/:id/tests/dry-run": { POST: editor.DryRun },
  "/api/agents/:id/tests/insights": { GET: pageOf(insights.TestInsights) },
  "/api/agents/:id/tests/rests-on": { POST: editor.KnownClasses },
  "/api/agents/:id/tests/status": { POST: itemsOf(tests.ListedTest) },
  "/api/agents/:id/tests/trace-inputs": { POST: editor.TraceInputs },
  "/api/agents/:id/tests/try-scenario": { POST: editor.ScenarioTrial },
  "/api/agents/:id/tests/validate": { POST: tests.ValidatedTest },
  "/api/agents/:id/trace-values": { GET: traces.TraceValues },
  "/api/agents/:id/trace-views": { GET: views.SavedViews, POST: views.SavedView },
  "/api/agents/:id/traces": { GET: traces.TracePage },
  "/api/agents/:id/traces/delete": { POST: traces.DeletedTraces },
  "/api/agents/:id/traces/export": { POST: z.string() },
  "/api/agents/:id/vocabulary": { GET: editor.Vocabulary },
  "/api/agents/:id/webhook": { GET: alerts.AgentWebhook, PUT: alerts.SavedWebhook },
  "/api/agents/:id/webhook/deliveries": { GET: pageOf(alerts.Delivery) },
  "/api/agents/:id/webhook/secret": { POST: alerts.SavedWebhook },
  "/api/agents/:id/webhook/test": { POST: alerts.Delivery },
  "/api/auth/change-password": { POST: accounts.PasswordChanged },
  "/api/auth/get-session": { GET: accounts.CurrentSession },
  "/api/auth/list-sessions": { GET: z.array(accounts.Session) },
  "/api/auth/request-password-reset": { POST: accounts.ResetRequested },
  "/api/auth/reset-password": { POST: accounts.PasswordReset },
  "/api/auth/sign-in/email": { POST: accounts.SignedIn },
  "/api/auth/sign-up/email": { POST: accounts.SignedUp },
  "/api/backtests/:id": { GET: backtests.BacktestDetail },
  "/api/backtests/:id/cancel": { POST: backtests.BacktestDetail },
  "/api/backtests/:id/results": { GET: pageOf(backtests.BacktestResult) },
  "/api/email-alerts": { GET: alerts.EmailAlerts, PUT: alerts.EmailAlerts },
  "/api/erasures/:id": { GET: erasures.ErasureDetail },
  "/api/judge": { GET: judge.EnvironmentJudge },
  "/api/judge/test": { POST: judge.JudgeTrial },
  "/api/keys/:id": { GET: projects.Key, PATCH: projects.Key },
  "/api/launches/:id": { GET: launches.LaunchDetail },
  "/api/launches/:id/cancel": { POST: launches.LaunchDetail },
  "/api/launches/:id/compare": { GET: launches.LaunchComparison },
  "/api/launches/:id/runs": { GET: pageOf(launches.LaunchedRun) },
  "/api/projects": { GET: pageOf(projects.Project), POST: projects.Project },
  "/api/projects/:id": { GET: projects.Project, PATCH: projects.Project },
  "/api/projects/:id/agents": { GET: pageOf(projects.Agent), POST: projects.Agent },
  "/api/projects/:id/agreement": { GET: agreement.JudgeAgreement },
  "/api/projects/:id/erasures": { POST: erasures.ErasureDetail, GET: pageOf(erasures.Erasure) },
  "/api/projects/:id/ingestion": { GET: pageOf(ingestion.IngestionMinute) },
  "/api/projects/:id/ingestion/summary": { GET: ingestion.IngestionSummary },
  "/api/projects/:id/insights/agents": { GET: pageOf(insights.AgentDay) },
  "/api/projects/:id/judge": { GET: judge.ProjectJudge, PUT: judge.ProjectJudge },
  "/api/projects/:id/judge/prices": { GET: judge.JudgePrices, PUT: judge.JudgePrices },
  "/api/projects/:id/judge/test": { POST: judge.JudgeTrial },
  "/api/projects/:id/keys": { GET: pageOf(projects.Key), POST: projects.CreatedKey },
  "/api/projects/:id/labels": { GET: pageOf(labels.ListedLabel) },
  "/api/projects/:id/labels/set": { GET: labels.LabelSet },
  "/api/projects/:id/labels/try": { POST: labels.LabelTrial },
  "/api/projects/:id/privacy": { GET: privacy.Privacy, PUT: privacy.Privacy },
  "/api/projects/:id/privacy/preview": { POST: privacy.PrivacyPreview },
  "/api/projects/:id/privacy/pseudonym-key": { GET: privacy.PseudonymKey },
  "/api/projects/:id/rate-limit": { GET: projects.RateLimit, PUT: projects.RateLimit },
  "/api/projects/:id/retention": { GET: retention.Retention, PUT: retention.Retention },
  "/api/runs/:id": { GET: launches.AnyRunDetail },
  "/api/runs/:id/calls": { GET: pageOf(judge.JudgeCall) },
  "/api/runs/:id/labels": { GET: itemsOf(labels.Label), PUT: labels.Label },
  "/api/tests/:id": { GET: tests.ListedTest, PUT: tests.ListedTest, PATCH: tests.ListedTest },
  "/api/tests/:id/runs": { GET: pageOf(launches.AnyRunDetail) },
  "/api/tests/:id/state": { GET: alerts.TestState },
  "/api/tests/:id/versions": { GET: itemsOf(backtests.TestVersion) },
  "/api/traces/:id": { GET: traces.TraceDetail },
  "/api/traces/:id/conversation": { GET: conversation.Conversation },
  "/api/traces/:id/draft-assertion": { POST: editor.DraftedAssertion },
  "/api/traces/:id/draft-test": { POST: tests.TestDocument },
  "/api/traces/:id/outline": { GET: traces.TraceOutline },
  "/api/traces/:id/preview": { GET: traces.TracePreview, POST: traces.TracePreview },
  "/api/traces/:id/raw": { GET: traces.RawTrace },
  "/api/traces/:id/result-states": { GET: itemsOf(traces.ResultStateView), PUT: traces.ResultStateView },
  "/api/traces/:id/spans/:spanId": { GET: traces.SpanDetail },
  "/api/traces/:id/turn": { GET: conversations.TurnOfTrace },
  "/api/verification": { GET: accounts.Verification },
  "/api/verification/confirm": { POST: accounts.Verified },
  "/api/verification/link": { POST: accounts.VerificationLink },
  "/api/verification/resend": { POST: accounts.Verification },
} satisfies Record<string, Partial<Record<Method, z.ZodType>>>;

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type Answers = typeof answers;

/** The steps of a path: `:id` for each that is only known when the test runs, without the query. */
type Pattern<P extends string> = P extends `${infer Path}?${string}`
  ? Pattern<Path>
  : P extends `${infer Step}/${infer Rest}`
    ? `${PatternStep<Step>}/${Pattern<Rest>}`
    : PatternStep<P>;
type PatternStep<S extends string> = string extends S ? ":id" : S extends `:${string}` ? ":id" : S;

type ByPattern = { [P in keyof Answers & string as Pattern<P>]: Answers[P] };

/** What the path answers if all is well. */
export type AnswerOf<M extends Method, P extends string> = M extends "DELETE"
  ? undefined
  : Pattern<P> extends infer Path extends keyof ByPattern
    ? M extends keyof ByPattern[Path]
      ? ByPattern[Path][M] extends z.ZodType<infer T>
        ? T
        : unknown
      : unknown
    : unknown;

const patterns = Object.entries(answers).map(([path, methods]) => ({
  matches: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`),
  methods: methods as Partial<Record<Method, z.ZodType>>,
}));

/** The schema of what the path answers; undefined for what is no JSON, such as the metrics. */
export function answerSchema(method: string, path: string): z.ZodType | undefined {
  const [plain = ""] = path.split("?", 1);
  // A path without an id comes before one that would take its last step for one.
  return patterns.find(({ matches, methods }) => matches.test(plain) && method in methods)?.methods[
    method as Method
  ];
}
