// Who may call each route: the expectation that access.test.ts compares the service with. A new route needs a line here.

export type Caller =
  /** No identity is asked for, and one that is sent changes nothing. */
  | "anybody"
  /** A session; an access token is refused, whatever it belongs to. */
  | "session"
  | "session or token"
  /** An API key, and nothing else. */
  | "key";

const routes: Record<Caller, string> = {
  anybody: `
    GET /
    GET /*
    GET /healthz
    GET /readyz
    GET /metrics
    GET /api/openapi.json
    GET /api/auth/get-session
    POST /api/auth/sign-in/email
    POST /api/auth/sign-up/email
    POST /api/auth/request-password-reset
    POST /api/auth/reset-password
    POST /api/verification/confirm
    POST /api/verification/link
    POST /alerts/off
  `,
  key: `
    POST /public/traces
    POST /public/traces/
    POST /public/logs
    POST /public/logs/
  `,
  session: `
    POST /api/auth/sign-out
    GET /api/auth/list-sessions
    POST /api/auth/revoke-session
    POST /api/auth/revoke-other-sessions
    POST /api/auth/update-user
    POST /api/auth/delete-user
    POST /api/auth/change-password
    GET /api/verification
    POST /api/verification/resend
    GET /api/access-tokens
    POST /api/access-tokens
    DELETE /api/access-tokens/:id
    POST /api/projects
    PATCH /api/projects/:id
    DELETE /api/projects/:id
    POST /api/projects/:id/agents
    PATCH /api/agents/:id
    DELETE /api/agents/:id
    POST /api/projects/:id/keys
    PATCH /api/keys/:id
    DELETE /api/keys/:id
    POST /api/agents/:id/tests
    POST /api/agents/:id/tests/validate
    POST /api/agents/:id/tests/status
    PUT /api/tests/:id
    PATCH /api/tests/:id
    DELETE /api/tests/:id
    DELETE /api/traces/:id
    POST /api/traces/:id/preview
    POST /api/agents/:id/traces/delete
    POST /api/agents/:id/traces/export
    POST /api/agents/:id/trace-views
    DELETE /api/trace-views/:id
    PUT /api/traces/:id/result-states
    PUT /api/runs/:id/labels
    DELETE /api/labels/:id
    POST /api/projects/:id/labels/try
    POST /api/agents/:id/judge-again
    PUT /api/agents/:id/connection
    DELETE /api/agents/:id/connection
    POST /api/agents/:id/connection/test
    POST /api/agents/:id/tests/dry-run
    POST /api/agents/:id/tests/try-scenario
    POST /api/agents/:id/tests/rests-on
    POST /api/agents/:id/tests/trace-inputs
    POST /api/traces/:id/draft-test
    POST /api/traces/:id/draft-assertion
    POST /api/agents/:id/backtests/estimate
    POST /api/agents/:id/backtests
    POST /api/backtests/:id/cancel
    DELETE /api/backtests/:id
    DELETE /api/launches/:id
    POST /api/judge/test
    PUT /api/projects/:id/judge
    DELETE /api/projects/:id/judge
    POST /api/projects/:id/judge/test
    PUT /api/projects/:id/judge/prices
    PUT /api/projects/:id/privacy
    PUT /api/projects/:id/retention
    PUT /api/projects/:id/rate-limit
    POST /api/projects/:id/privacy/preview
    PUT /api/agents/:id/judge-settings
    POST /api/agents/:id/sample-trace
    POST /api/agents/:id/launches/estimate
    PUT /api/agents/:id/webhook
    DELETE /api/agents/:id/webhook
    POST /api/agents/:id/webhook/secret
    POST /api/agents/:id/webhook/test
    PUT /api/email-alerts
    POST /api/projects/:id/erasures
  `,
  "session or token": `
    GET /api/projects
    GET /api/projects/:id
    GET /api/projects/:id/agents
    GET /api/agents/:id
    GET /api/projects/:id/keys
    GET /api/keys/:id
    GET /api/agents/:id/tests
    GET /api/tests/:id
    GET /api/tests/:id/runs
    GET /api/tests/:id/versions
    GET /api/agents/:id/trace-values
    GET /api/agents/:id/conversation
    GET /api/agents/:id/conversations
    GET /api/agents/:id/trace-views
    GET /api/agents/:id/traces
    GET /api/traces/:id
    GET /api/traces/:id/outline
    GET /api/traces/:id/spans/:spanId
    GET /api/traces/:id/conversation
    GET /api/traces/:id/turn
    GET /api/traces/:id/raw
    GET /api/traces/:id/preview
    GET /api/traces/:id/result-states
    GET /api/runs/:id
    GET /api/runs/:id/calls
    GET /api/runs/:id/labels
    GET /api/agents/:id/judging
    GET /api/projects/:id/labels
    GET /api/projects/:id/agreement
    GET /api/projects/:id/labels/set
    GET /api/agents/:id/outages
    GET /api/projects/:id/ingestion
    GET /api/agents/:id/last-rejection
    GET /api/projects/:id/ingestion/summary
    GET /api/agents/:id/insights
    GET /api/agents/:id/insights/models
    GET /api/agents/:id/insights/redactions
    GET /api/agents/:id/overview
    GET /api/projects/:id/insights/agents
    GET /api/agents/:id/tests/insights
    GET /api/agents/:id/connection
    GET /api/agents/:id/conventions
    GET /api/events
    GET /api/agents/:id/vocabulary
    GET /api/agents/:id/backtests
    GET /api/backtests/:id
    GET /api/backtests/:id/results
    GET /api/judge
    GET /api/projects/:id/judge
    GET /api/projects/:id/judge/prices
    GET /api/projects/:id/privacy
    GET /api/projects/:id/retention
    GET /api/projects/:id/rate-limit
    GET /api/projects/:id/privacy/pseudonym-key
    GET /api/agents/:id/judge-settings
    GET /api/agents/:id/launches
    POST /api/agents/:id/launches
    GET /api/launches/:id
    GET /api/launches/:id/runs
    GET /api/launches/:id/compare
    POST /api/launches/:id/cancel
    GET /api/agents/:id/webhook
    GET /api/agents/:id/webhook/deliveries
    GET /api/tests/:id/state
    GET /api/email-alerts
    GET /api/projects/:id/erasures
    GET /api/erasures/:id
  `,
};

/** By route, as in `GET /api/projects/:id`. */
export const callers: ReadonlyMap<string, Caller> = new Map(
  Object.entries(routes).flatMap(([caller, lines]) =>
    lines
      .trim()
      .split("\n")
      .map(line => [line.trim(), caller as Caller] as const),
  ),
);
