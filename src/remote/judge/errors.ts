// Classifies the failed HTTP responses of a judge, by status, error code and text, in one table with its sources.
import type { JudgeCallState } from "../../model/judge/call.ts";
import type { ErrorReply } from "./error-reply.ts";

/** The reasons that are read from a response. */
export type FaultCode =
  | "judge_answer_malformed"
  | "judge_context_exceeded"
  | "judge_input_rejected"
  | "judge_quota_exceeded"
  | "judge_gateway_budget_exceeded"
  | "judge_system_role_rejected"
  | "judge_header_missing"
  | "judge_model_denied"
  | "judge_upstream_rejected"
  | "judge_key_rejected"
  | "judge_tls_required"
  | "judge_model_unknown"
  | "judge_url_unknown"
  | "judge_not_found";

export type Fault = { code: FaultCode; state: Exclude<JudgeCallState, "ok" | "aborted"> };

/** Matches if the status fits (absent: any) and the code or the text does; with neither, the status alone decides. */
type Sign = {
  /** The server, and where its source or documentation has the error. */
  source: string;
  statuses?: number[];
  codes?: RegExp;
  text?: RegExp;
  /** Only in a body of this form. */
  form?: "detail";
  /** Not if the server says when to retry. */
  unlessRetry?: true;
};

const litellm = "LiteLLM 1.106";
const mlflow = "MLflow 3.18";
const wrong = [400, 404, 405, 422, 500, 501];

/** The first row with a matching sign decides. */
const table: (Fault & { signs: Sign[] })[] = [
  {
    code: "judge_answer_malformed",
    state: "unusable",
    signs: [
      {
        source: "llama.cpp, common/chat.cpp: the model's output cannot be parsed",
        statuses: [500],
        text: /output that does not match the expected .{0,60}format|^failed to parse input at pos/i,
      },
      {
        source:
          "Groq, console.groq.com/docs/structured-outputs: the model's output is not the JSON that was asked for",
        statuses: [400],
        codes: /^json_validate_failed$/,
      },
    ],
  },
  {
    code: "judge_context_exceeded",
    state: "unusable",
    signs: [
      { source: "OpenAI, Azure, Groq: error code", codes: /^context_length_exceeded$/ },
      {
        source: "llama.cpp, tools/server/server-common.cpp: error type",
        codes: /^exceed_context_size_error$/,
      },
      {
        source: `vLLM, Ollama, Anthropic, Google; ${litellm}, exceptions.py; and what gateways relay of others`,
        statuses: [400, 413, 422, 500],
        text: /context_length_exceeded|exceed_context_size_error|ContextWindowExceededError|maximum context length|exceeds? the (?:available |maximum )?(?:context|model's)|prompt is too long|input token count .{0,40}exceeds/i,
      },
    ],
  },
  {
    code: "judge_input_rejected",
    state: "unusable",
    signs: [
      {
        // It must not pause the connection for all others.
        source: "OpenRouter, openrouter.ai/docs/api-reference/errors: 403 for a flagged input",
        statuses: [403],
        text: /moderation|flagged/i,
      },
      {
        source: "Azure, OpenAI: error code",
        statuses: [400],
        codes: /^(?:content_filter|content_policy_violation)$/,
      },
    ],
  },
  {
    code: "judge_quota_exceeded",
    state: "later",
    signs: [
      { source: "Anthropic (billing_error), DeepSeek, OpenRouter: 402 Payment Required", statuses: [402] },
      { source: "OpenAI, platform.openai.com/docs/guides/error-codes", codes: /^insufficient_quota$/ },
      { source: "Anthropic, docs.anthropic.com/en/api/errors", codes: /^billing_error$/ },
      {
        source: "Anthropic: 400 when the account has no credit",
        statuses: [400, 403, 422, 429],
        text: /credit balance is too low|insufficient_quota/i,
      },
      {
        // Google says the same of its limits per minute, but with the time to retry.
        source: `OpenAI as relayed by ${litellm} (type throttling_error) and ${mlflow} ({"detail"})`,
        statuses: [400, 403, 422, 429, 500],
        text: /exceeded your current quota|insufficient (?:credits?|quota|balance|funds)/i,
        unlessRetry: true,
      },
    ],
  },
  {
    code: "judge_gateway_budget_exceeded",
    state: "later",
    signs: [
      {
        source: `${litellm}, proxy/_types.py, ProxyErrorTypes: 422, earlier 400 and 429`,
        codes: /^budget_exceeded$/,
      },
      {
        source: `${litellm}, exceptions.py and proxy/auth/auth_checks.py; ${mlflow}, gateway/budget.py`,
        statuses: [400, 401, 403, 422, 429],
        text: /budget has been exceeded|^(?:litellm\.)?(?:ExceededBudget|BudgetExceededError)|budget (?:limit|policy).{0,40}exceeded/i,
      },
    ],
  },
  {
    code: "judge_tls_required",
    state: "refused",
    signs: [
      {
        source: "nginx, Go (net/http), Apache: plain HTTP sent to their TLS port",
        statuses: [400],
        text: /plain HTTP request was sent to HTTPS port|sent an HTTP request to an HTTPS server|speaking plain HTTP to an SSL-enabled server port/i,
      },
    ],
  },
  {
    code: "judge_system_role_rejected",
    state: "unusable",
    signs: [
      {
        source: "Chat templates of Gemma and Mistral, as run by llama.cpp, vLLM and TGI",
        statuses: [400, 422, 500],
        text: /system role (?:is )?not supported|conversation roles must alternate/i,
      },
      {
        source: "OpenAI o1-mini: code unsupported_value",
        statuses: [400],
        text: /messages\[0\]\.role'? does not support 'system'/i,
      },
      { source: "Google, for Gemma", statuses: [400], text: /developer instruction is not enabled/i },
    ],
  },
  {
    code: "judge_header_missing",
    state: "refused",
    signs: [
      {
        source: "Portkey 1.15, src/middlewares/requestValidator",
        statuses: [400],
        text: /x-portkey-[a-z-]{1,60}(?: or x-portkey-[a-z-]{1,60})? header is required/i,
      },
      { source: "FastAPI: validation of a header", statuses: [422], codes: /^missing_header$/ },
    ],
  },
  {
    code: "judge_model_denied",
    state: "refused",
    signs: [
      { source: `${litellm}, proxy/_types.py, ProxyErrorTypes`, codes: /_model_access_denied$/ },
      {
        source: `OpenAI, for projects; Amazon Bedrock; ${litellm}, proxy/auth/auth_checks.py`,
        statuses: [400, 401, 403, 404],
        text: /not allowed to access model|(?:doesn't|does not|don't|do not) have access to (?:the )?(?:requested )?model/i,
      },
    ],
  },
  {
    code: "judge_upstream_rejected",
    state: "refused",
    signs: [
      {
        source: `${litellm}, exceptions.py: the error of the provider behind the gateway`,
        statuses: [400, 401, 403, 500],
        text: /litellm\.(?:AuthenticationError|PermissionDeniedError)/,
      },
      {
        source: `${mlflow}, gateway/providers/utils.py: the provider's own words as {"detail"}`,
        statuses: [400, 401, 403],
        form: "detail",
        text: /incorrect api key provided|invalid x-api-key|api key not valid/i,
      },
    ],
  },
  {
    code: "judge_key_rejected",
    state: "refused",
    signs: [
      { source: "HTTP: Unauthorized, Forbidden", statuses: [401, 403] },
      { source: "Google: 400 for a wrong key", codes: /^api_key_invalid$/ },
      { source: "OpenAI: error code", codes: /^invalid_api_key$/ },
      {
        source: `${litellm}, proxy/auth/user_api_key_auth.py: 400 "No connected db." for a key other than the master key`,
        codes: /^(?:no_db_connection|token_not_found_in_db|expired_key)$/,
      },
    ],
  },
  {
    code: "judge_model_unknown",
    state: "refused",
    signs: [
      { source: "OpenAI, Groq, Azure: error code", codes: /^(?:model_not_found|deploymentnotfound)$/ },
      {
        source: `vLLM, Ollama, OpenRouter, Google; ${litellm}, proxy/route_llm_request.py`,
        statuses: wrong,
        text: /invalid model name passed|\bmodels?\b.{0,200}(?:does not exist|not found)|is not a valid model id|unknown model|no such model/i,
      },
      { source: "Anthropic: the name alone", statuses: [404], text: /^model: / },
      {
        source: `${mlflow}: an endpoint is what it has for a model`,
        statuses: wrong,
        text: /GatewayEndpoint not found/,
      },
    ],
  },
  {
    code: "judge_url_unknown",
    state: "refused",
    signs: [
      { source: "FastAPI, Starlette", statuses: [404, 405], text: /^(?:not found|method not allowed)$/i },
      {
        source: "LM Studio (with 200), OpenAI, Anthropic, Portkey",
        text: /^(?:unexpected endpoint or method|unknown request url|invalid url\b)/i,
      },
    ],
  },
  {
    code: "judge_not_found",
    state: "refused",
    signs: [
      { source: "HTTP: Not Found", statuses: [404] },
      {
        source: `${mlflow}, server/gateway_api.py: 500 and 404 for an unknown endpoint`,
        statuses: wrong,
        codes: /^resource_does_not_exist$/,
        text: /\b(?:unknown|no such) (?:endpoint|route|deployment)|\b(?:endpoint|route|deployment)\b.{0,200}(?:not found|does not exist)/i,
      },
    ],
  },
];

/** Undefined for a failure that says nothing about its cause, such as most 5xx. */
export function faultOf(reply: ErrorReply): Fault | undefined {
  const row = table.find(({ signs }) => signs.some(sign => matches(sign, reply)));
  return row && { code: row.code, state: row.state };
}

function matches({ statuses, codes, text, form, unlessRetry }: Sign, reply: ErrorReply): boolean {
  if (statuses && !statuses.includes(reply.status)) return false;
  if (form && reply.form !== form) return false;
  if (unlessRetry && reply.retryMs !== null) return false;
  if (!codes && !text) return true;
  return reply.codes.some(code => codes?.test(code)) || text?.test(reply.text) === true;
}
