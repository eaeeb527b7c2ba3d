// CSRF protection: rejects write requests that a page of another site makes a browser send, and says what is wrong when
// the service itself is opened under an origin that it does not know.
import type { IncomingHttpHeaders } from "node:http";
import { Refusal } from "../../model/refusal.ts";

type Asked = { method: string; headers: IncomingHttpHeaders };

/**
 * Browsers send the origin of the page; other clients send none, and no cookies without their user's intent. Undefined:
 * the request may use its session.
 */
export function originFault({ method, headers }: Asked, baseUrl: string): Refusal | undefined {
  if (method === "GET" || method === "HEAD") return undefined;
  if (headers["sec-fetch-site"] === "cross-site") return otherSite();
  const { origin, host } = headers;
  const own = new URL(baseUrl);
  if (origin === undefined || origin === own.origin) return undefined;
  const page = URL.parse(origin);
  if (page?.origin !== origin) return otherSite();
  if (!isAt(page, host)) {
    return new Refusal("UNAUTHORIZED", {
      message: `This page was opened at ${origin}, but Onlooker's URL is ${own.origin}, and the request's Host header is ${shown(host)}.`,
      hint: `Open ${own.origin}, or set SVC_BASE_URL to ${origin}. A proxy has to pass on the Host header.`,
    });
  }
  // The same service under another host name, such as 127.0.0.1 for localhost: a page can forge neither header.
  if (own.protocol !== "https:" || page.protocol === "https:" || isLocal(page.hostname)) return undefined;
  return new Refusal("UNAUTHORIZED", {
    message: `This page was opened at ${origin}, without TLS, and browsers keep Onlooker's session only over https.`,
    hint: `Open ${own.origin}, or set SVC_BASE_URL to ${origin} to use Onlooker without TLS.`,
  });
}

/** Some proxies add the scheme's default port to the Host header; browsers leave it out of the origin. */
function isAt(page: URL, host: string | undefined): boolean {
  const asked = host === undefined ? null : URL.parse(`${page.protocol}//${host}`);
  return asked?.href === `${page.origin}/`;
}

function otherSite(): Refusal {
  return new Refusal("UNAUTHORIZED", {
    message: "The request was made by a page of another site.",
    hint: "Sign in, and use the dashboard itself.",
  });
}

/** Browsers keep secure cookies of these over http too. */
function isLocal(hostname: string): boolean {
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

function shown(host: string | undefined): string {
  return host === undefined ? "missing" : host.slice(0, 100);
}
