// Explains why an HTTP connection failed, by the error's code.

/** `reached`: the connection was established, so the request may have arrived. `why` completes "the server …" or "not reached: …". */
export type ConnectionFault = { reached: boolean; why: string };

export function connectionFault(error: unknown): ConnectionFault {
  const code = codeOf(error);
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
const trust = "whoever runs the service can trust it with NODE_EXTRA_CA_CERTS";

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

/** The outermost code among the error and its causes. Never a message, which may repeat what was sent. */
function codeOf(error: unknown): string | undefined {
  const seen = new Set<unknown>();
  const open = [error];
  for (let at = open.shift(); at !== undefined; at = open.shift()) {
    if (seen.has(at) || typeof at !== "object" || at === null) continue;
    seen.add(at);
    const { code, cause, errors } = at as { code?: unknown; cause?: unknown; errors?: unknown };
    if (typeof code === "string") return code;
    open.push(...(Array.isArray(errors) ? errors : []), cause);
  }
  return undefined;
}
