// HTTP client for the service's API: JSON with a session cookie, like the dashboard.

export type Client = {
  get<T>(path: string): Promise<T>;
  send<T>(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<T>;
  /** Up to `max` items of a list, newest first. */
  list<T>(path: string, max?: number): Promise<T[]>;
};

/** An error response, with the service's own `message`. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly status: number;
  readonly code: string;

  constructor(status: number, { code = "", message = "" }: { code?: string; message?: string }) {
    super(message || `The service answered ${status}.`);
    this.status = status;
    this.code = code;
  }
}

export function openClient(url: string): Client {
  let session = "";
  const request = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(session && { cookie: session }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const cookie = response.headers.getSetCookie().find(line => line.includes("session_token="));
    if (cookie) session = cookie.split(";", 1)[0]!;
    const text = await response.text();
    const answer = text === "" ? undefined : JSON.parse(text);
    if (!response.ok) throw new ApiError(response.status, answer ?? {});
    return answer;
  };
  return {
    get: path => request("GET", path),
    send: request,
    async list<T>(path: string, max = 10_000) {
      const items: T[] = [];
      let cursor: string | null = null;
      do {
        const after: string = cursor === null ? "" : `&cursor=${cursor}`;
        const page: { items: T[]; nextCursor: string | null } = await request(
          "GET",
          `${path}${path.includes("?") ? "&" : "?"}limit=${Math.min(max, 200)}${after}`,
        );
        items.push(...page.items);
        cursor = page.nextCursor;
      } while (cursor !== null && items.length < max);
      return items;
    },
  };
}
