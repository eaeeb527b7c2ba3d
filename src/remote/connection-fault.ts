// Explains why an HTTP connection failed, by the error's code.
import { isRecord } from "../model/record.ts";

/** `reached`: the connection was established, so the request may have arrived. `why` completes "the server …" or "not reached: …". */
export type ConnectionFault = { reached: boolean; why: string };

export function connectionFault(error: unknown): ConnectionFault {
  const causes = causesOf(error);
  if (causes.some(isTlsAlert)) return { reached: false, why: plainToTls };
  const code = causes.map(({ code }) => code).find(code => typeof code === "string");
  if (code === "UND_ERR_SOCKET" && causes.some(hasReadNothing)) return { reached: true, why: closedAtOnce };
  const broken = brokenOff[code ?? ""];
  if (broken !== undefined || code === undefined || code.startsWith("HPE_")) {
    return { reached: true, why: broken ?? "sent an invalid response" };
  }
  return { reached: false, why: unreached[code] ?? code };
}

const brokenOff: Record<string, string> = {
  ECONNRESET: "closed the connection",
  UND_ERR_SOCKET: "closed the connection",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "closed the connection",
  EPIPE: "closed the connection",
  UND_ERR_HEADERS_OVERFLOW: "sent response headers that are too large",
};

const noTls = "the port does not speak TLS; its URL probably begins with http://";
const trust = "the operator of the service can trust it with NODE_EXTRA_CA_CERTS";

const unreached: Record<string, string> = {
  ENOTFOUND: "the host name was not found",
  EAI_AGAIN: "the DNS lookup failed",
  ECONNREFUSED: "the connection was refused",
  ETIMEDOUT: "the connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "the connection timed out",
  EHOSTUNREACH: "there is no route to the host",
  ENETUNREACH: "there is no route to the network",
  EPROTO: noTls,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: `its certificate is self-signed; ${trust}`,
  SELF_SIGNED_CERT_IN_CHAIN: `its certificate is signed by an unknown authority; ${trust}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `its certificate is signed by an unknown authority; ${trust}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `its certificate cannot be verified; ${trust}`,
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
};

const plainToTls = "the port speaks TLS; the URL must begin with https://";

/** So do servers that speak TLS alone, and send no alert. */
const closedAtOnce = "closed the connection without an answer (does its port need https://?)";

type Cause = { code?: unknown; cause?: unknown; errors?: unknown; data?: unknown; socket?: unknown };

/** A TLS alert record where an HTTP response was expected: content type 21, version 3. */
function isTlsAlert({ data }: Cause): boolean {
  return typeof data === "string" && data.startsWith("\x15\x03");
}

function hasReadNothing({ socket }: Cause): boolean {
  return isRecord(socket) && socket["bytesRead"] === 0;
}

/** The error and its causes, outermost first. Never a message, which may repeat what was sent. */
function causesOf(error: unknown): Cause[] {
  const causes: Cause[] = [];
  const open = [error];
  for (let at = open.shift(); at !== undefined; at = open.shift()) {
    if (typeof at !== "object" || at === null || causes.includes(at)) continue;
    const found = at as Cause;
    causes.push(found);
    open.push(...(Array.isArray(found.errors) ? found.errors : []), found.cause);
  }
  return causes;
}
