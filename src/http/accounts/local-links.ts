// Verification links to show on the screen, where nobody else can see it: without a mail server, on the user's own machine.
import type { IncomingHttpHeaders } from "node:http";
import { isLoopback, isOnlyThisMachine } from "../../model/only-this-machine.ts";
import type { Deps } from "../frame/deps.ts";
import { type KeptLinks, OwnLinks } from "../frame/machine.ts";

type Asked = { headers: IncomingHttpHeaders; socket: { remoteAddress?: string | undefined } };

/** The links that this machine sent, in memory: only hashes of their tokens are stored. */
export class LocalLinks {
  readonly #config: Deps["config"];
  readonly #links: KeptLinks;

  constructor(config: Deps["config"], links: KeptLinks = new OwnLinks()) {
    this.#config = config;
    this.#links = links;
  }

  async keep(accountId: string, link: string): Promise<void> {
    if (this.#isShown()) await this.#links.keep(accountId, link);
  }

  /** The account's latest link, if only the user of this machine can see the response. */
  async find(accountId: string, asked: Asked): Promise<string | null> {
    if (!this.#isShown() || !isDirect(asked)) return null;
    return (await this.#links.find(accountId)) ?? null;
  }

  #isShown(): boolean {
    return !this.#config.smtpUrl && isOnlyThisMachine(this.#config);
  }
}

/** Whether the request comes from this machine itself, and not through a proxy or tunnel on it. */
function isDirect({ headers, socket }: Asked): boolean {
  const names = Object.keys(headers);
  const host = URL.parse(`http://${headers.host}`)?.hostname ?? "";
  return isLoopback(socket.remoteAddress ?? "") && isLoopback(host) && !names.some(isForwarding);
}

/** Set by proxies and tunnels: X-Forwarded-For, X-Real-IP, Forwarded, Via, CF-Connecting-IP and the like. */
function isForwarding(name: string): boolean {
  return /^(?:x-forwarded-.*|x-real-ip|forwarded|via|.*-(?:connecting|client)-ip|x-original-.*)$/.test(name);
}
