// Rejects requests without a Host and with an Expect other than 100-continue, which Node would answer without a body, and
// those with two Hosts or a transfer coding other than chunked, which Node would accept.
import { Refusal } from "../model/refusal.ts";
import type { App } from "./deps.ts";

/** For `http.createServer`: Node leaves both checks to `checkHeaders`. */
export const uncheckedHost = { requireHostHeader: false };

export function checkHeaders(app: App): void {
  // Node emits this instead of "request".
  app.server.on("checkExpectation", (request, response) => {
    app.server.emit("request", request, response);
  });
  app.addHook("onRequest", async ({ raw: { headers, rawHeaders, httpVersion } }) => {
    if (headers.host === undefined && httpVersion === "1.1") {
      throw new Refusal("VALIDATION_ERROR", {
        message: "The Host header is missing.",
        hint: "Send the host name of this service, as HTTP/1.1 requires.",
      });
    }
    if (hostsIn(rawHeaders) > 1) {
      throw new Refusal("VALIDATION_ERROR", {
        message: "The Host header is there more than once.",
        hint: "Send one Host header.",
      });
    }
    if (!isPlainOrChunked(headers["transfer-encoding"])) {
      throw new Refusal("VALIDATION_ERROR", {
        message: "This Transfer-Encoding is not supported.",
        hint: "Use Transfer-Encoding: chunked alone, and Content-Encoding: gzip for a compressed body.",
      });
    }
    if (headers.expect !== undefined && headers.expect.toLowerCase() !== "100-continue") {
      throw new Refusal("EXPECTATION_FAILED", {
        hint: "Leave the header out, or send Expect: 100-continue.",
      });
    }
  });
}

/** Node keeps the first one alone in `headers`. */
function hostsIn(rawHeaders: string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts;
}

/** As a list, which may have empty elements. The parser has read the body as chunked. */
function isPlainOrChunked(transferEncoding: string | undefined): boolean {
  const codings = (transferEncoding ?? "chunked").split(",").map(coding => coding.trim().toLowerCase());
  return codings.filter(coding => coding !== "").join() === "chunked";
}
