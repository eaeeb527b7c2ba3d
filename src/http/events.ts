// /api/events: server-sent events about an account's traces, runs and rejected requests. Events are not replayed: a
// client that was disconnected reloads.

import { PassThrough } from "node:stream";
import { z } from "zod";
import type { ServiceEvent } from "../model/event.ts";
import { Refusal } from "../model/refusal.ts";
import { listOwnIds } from "../store/accounts/ownership.ts";
import type { App, Deps } from "./frame/deps.ts";
import { holdersOfAccount, releaseOnClose, sharedPlacesOfAccounts, takePlace } from "./frame/places.ts";
import { routesOf } from "./frame/route.ts";
import { Id } from "./frame/schemas.ts";

// Below the idle timeouts of proxies, which are 30 s or more.
const keepAliveMs = 15_000;
// A client with more unread events than this is disconnected; it reconnects and reloads.
const bufferedBytesMax = 1024 * 1024;
// How often a stream checks that its session or token is still valid, and reloads the account's agents and projects.
const recheckMs = 5_000;
/** Open streams of one machine. */
export const streamsMax = 500;

/** Distributes events to the streams of one process. */
export class EventHub {
  readonly #listeners = new Set<(event: ServiceEvent) => void>();

  publish(event: ServiceEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  listen(listener: (event: ServiceEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

type OwnIds = Awaited<ReturnType<typeof listOwnIds>>;

export function registerEvents(app: App, { db, machine, hub }: Deps & { hub: EventHub }): void {
  const route = routesOf(app, "events");
  const streams = new Set<PassThrough>();
  const places = sharedPlacesOfAccounts({ machine, name: "event streams", count: streamsMax });
  app.addHook("preClose", async () => {
    for (const stream of streams) stream.end();
  });

  route("GET /api/events", {
    access: "tokens",
    summary: "Stream server-sent events: trace, run, launch, ingestion, refresh",
    query: z.object({
      agentId: Id.optional().describe(
        "Only traces and runs of this agent; rejected requests only if projectId is set, too.",
      ),
      projectId: Id.optional().describe("Only events of this project. Default: all projects."),
    }),
    answer: {
      description: "Ends when the session or access token ends.",
      content: { "text/event-stream": { schema: z.unknown().meta({ type: "string" }) } },
    },
    handler: async ({ query, account, request, reply }) => {
      const { agentId, projectId } = query;
      const wanted = { holders: holdersOfAccount(account), what: "event streams", waitMs: 0 };
      releaseOnClose(reply, await takePlace(places, wanted));
      const ownNow = () => listOwnIds(db, account.id, projectId);
      const exists = ({ agents, projects }: OwnIds) =>
        (!agentId || agents.has(agentId)) && (!projectId || projects.has(projectId));
      let own = await ownNow();
      if (!exists(own)) throw new Refusal("NOT_FOUND");
      const receives = (event: ServiceEvent): boolean => {
        if (event.type === "ingestion") return own.projects.has(event.projectId) && (!agentId || !!projectId);
        return (
          event.agentId === null || (agentId ? event.agentId === agentId : own.agents.has(event.agentId))
        );
      };

      const stream = new PassThrough();
      streams.add(stream);
      const send = (text: string) => {
        if (stream.writableLength > bufferedBytesMax) stream.destroy();
        else stream.write(text);
      };
      const stopListening = hub.listen(event => {
        if (receives(event)) send(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      });
      const keepAlive = setInterval(() => send(": alive\n\n"), keepAliveMs);
      const recheck = setInterval(() => {
        Promise.all([ownNow(), request.isStillAuthenticated()]).then(
          ([now, isAuthenticated]) => {
            own = now;
            if (!isAuthenticated || !exists(now)) stream.end();
          },
          () => {},
        );
      }, recheckMs);
      stream.once("close", () => {
        stopListening();
        clearInterval(keepAlive);
        clearInterval(recheck);
        streams.delete(stream);
      });
      send("retry: 2000\n\n");
      return reply
        .header("content-type", "text/event-stream; charset=utf-8")
        .header("x-accel-buffering", "no")
        .send(stream);
    },
  });
}
