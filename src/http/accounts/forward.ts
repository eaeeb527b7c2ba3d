// How the routes of accounts reach the library behind them.

import type { FastifyReply, FastifyRequest } from "fastify";
import type { Background } from "../frame/background.ts";
import type { LocalLinks } from "./local-links.ts";

export type Forward = (
  path: string,
  body: Record<string, unknown> | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<unknown>;

export type SignUpDeps = { background: Background; localLinks: LocalLinks };
