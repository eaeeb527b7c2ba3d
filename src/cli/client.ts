// HTTP client for the service's API with an access token; failures are CliErrors with one line for the user.

/** Ends the command with exit code 2. The message is one line and never contains the token. */
export class CliError extends Error {
  override name = "CliError";
  /** Of a rejected request. */
  code: string | undefined;
  issues: Issue[] | undefined;
}

/** 404: the resource does not exist or belongs to another account. */
export class NotFoundError extends CliError {}

/** Resolves to the JSON response; throws CliError if the request is rejected or the service cannot be reached. */
export type Client = <T>(method: "GET" | "POST", path: string, body?: object) => Promise<T>;

type Issue = { path: string; message: string };

type Answer = {
  code?: string;
  message?: string;
  hint?: string;
  issues?: Issue[];
};

/** Retries for `retryMs` while the service is unavailable, so all requests of the client must be idempotent. */
export function openClient(url: string, token: string, retryMs = 0): Client {
  return async (method, path, body) => {
    const deadline = performance.now() + retryMs;
    for (;;) {
      const answer = await ask(url, token, method, path, body);
      if (!(answer instanceof CliError)) return answer as never;
      if (!(answer instanceof UnavailableError) || performance.now() > deadline) throw answer;
      await new Promise(resolve => setTimeout(resolve, 1_000));
    }
  };
}

class UnavailableError extends CliError {}

async function ask(
  url: string,
  token: string,
  method: string,
  path: string,
  body: object | undefined,
): Promise<unknown> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url + path, {
      method,
      // Following a redirect would turn a POST into a GET, and send the token to another URL.
      redirect: "manual",
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    text = await response.text();
  } catch (error) {
    const { cause } = error as { cause?: { code?: string; message?: string } };
    return new UnavailableError(
      `${url} cannot be reached (${cause?.code || cause?.message || "no answer"}). Check that the service is running, and --url.`,
    );
  }
  const { status } = response;
  const answer = readJson(text);
  if (status < 300 && answer !== undefined) return answer;
  if (status >= 300 && status < 400) {
    return new CliError(
      `${url} redirects to ${response.headers.get("location") ?? `another URL (${status})`}. Pass that URL as --url.`,
    );
  }
  if (status === 404 && answer !== undefined) return new NotFoundError(`${url}${path} was not found.`);
  const {
    message = `${url} answered ${status}; is it an Onlooker service? Check --url.`,
    code,
    hint,
    issues,
  } = (answer ?? {}) as Answer;
  const issueTexts = issues?.map(issue => `${issue.path}: ${issue.message}`).join(" ");
  const problem = [message, issueTexts, hint].filter(Boolean).join(" ");
  const Kind = [429, 502, 503, 504].includes(status) ? UnavailableError : CliError;
  return Object.assign(new Kind(problem), { code, issues });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
