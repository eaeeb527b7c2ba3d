// Speaks to a service's API with an access token; what cannot be had is a CliError with one line for the person.

/** What keeps the command from knowing how the tests do. The message is one line and never shows the token. */
export class CliError extends Error {
  override name = "CliError";
}

/** There is nothing of that address, or it is another account's. */
export class NotThere extends CliError {}

/** Answers JSON; throws CliError where the service says no or is not reached. */
export type Client = <T>(method: "GET" | "POST", path: string, body?: object) => Promise<T>;

type Answer = { message?: string; hint?: string; issues?: { path: string; message: string }[] };

/** Where the service is away it is asked again for `patienceMs`: only for what may be asked twice. */
export function openClient(url: string, token: string, patienceMs = 0): Client {
  return async (method, path, body) => {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const answer = await ask(url, token, method, path, body);
      if (!(answer instanceof CliError)) return answer as never;
      if (!(answer instanceof Away) || performance.now() > deadline) throw answer;
      await new Promise(resolve => setTimeout(resolve, 1_000));
    }
  };
}

class Away extends CliError {}

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
      // A redirect would make a question of a command, and take the token along.
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
    return new Away(`${url} cannot be reached (${cause?.code || cause?.message || "no answer"}).`);
  }
  const { status } = response;
  const answer = readJson(text);
  if (status < 300 && answer !== undefined) return answer;
  if (status >= 300 && status < 400) {
    return new CliError(
      `${url} redirects to ${response.headers.get("location") ?? `another URL (${status})`}. Pass that URL as --url.`,
    );
  }
  if (status === 404 && answer !== undefined) return new NotThere(`${url}${path} was not found.`);
  const {
    message = `${url} answered ${status}; is it an Onlooker service?`,
    hint,
    issues,
  } = (answer ?? {}) as Answer;
  const faults = issues?.map(issue => `${issue.path}: ${issue.message}`).join(" ");
  const said = [message, faults, hint].filter(Boolean).join(" ");
  return [429, 502, 503, 504].includes(status) ? new Away(said) : new CliError(said);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
