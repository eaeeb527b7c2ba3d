// /api/events: what happens to an account's traces, and what is refused, as server-sent events. A client that was away reads again.
import { PassThrough } from "node:stream";
import { z } from "zod";
import type { ServiceEvent } from "../model/event.ts";
import { Refusal } from "../model/refusal.ts";
import { listOwnIds } from "../store/accounts/ownership.ts";
import type { App, Deps } from "./deps.ts";
import { Id } from "./schemas.ts";
import { requireAccount } from "./session.ts";

// Below the idle time-outs of proxies, 30 s and more.
const keepAliveMs = 15_000;
// A client that reads more slowly than this lets pile up is cut off; it connects again and reads anew.
const bufferedBytesMax = 1024 * 1024;
// How often a stream looks anew whether its session or token still holds, and what is the account's: agents and projects
// made later are heard too.
const ownEveryMs = 5_000;

/** One process's listeners; whoever hears the database's notifications tells them. */
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

type Own = Awaited<ReturnType<typeof listOwnIds>>;

export function registerEvents(app: App, { db, hub }: Deps & { hub: EventHub }): void {
  const streams = new Set<PassThrough>();
  app.addHook("preClose", async () => {
    for (const stream of streams) stream.end();
  });

  app.get(
    "/api/events",
    {
      schema: {
        tags: ["events"],
        summary: "Stream server-sent events: trace, run, launch, ingestion, refresh",
        querystring: z.object({
          agentId: Id.optional().describe(
            "Traces and runs of this agent only; refusals only where projectId is given too.",
          ),
          projectId: Id.optional().describe("Only of this project; else of every project of the account."),
        }),
        response: {
          200: {
            description: "Ends with what let it in.",
            content: { "text/event-stream": { schema: z.unknown().meta({ type: "string" }) } },
          },
        },
      },
    },
    async (request, reply) => {
      const { agentId, projectId } = request.query;
      const account = requireAccount(request);
      const ownNow = () => listOwnIds(db, account.id, projectId);
      const isThere = ({ agents, projects }: Own) =>
        (!agentId || agents.has(agentId)) && (!projectId || projects.has(projectId));
      let own = await ownNow();
      if (!isThere(own)) throw new Refusal("NOT_FOUND");
      const hears = (event: ServiceEvent): boolean => {
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
        if (hears(event)) send(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      });
      const alive = setInterval(() => send(": alive\n\n"), keepAliveMs);
      const look = setInterval(() => {
        Promise.all([ownNow(), request.isStillIn()]).then(
          ([now, isIn]) => {
            own = now;
            if (!isIn || !isThere(now)) stream.end();
          },
          () => {},
        );
      }, ownEveryMs);
      stream.once("close", () => {
        stopListening();
        clearInterval(alive);
        clearInterval(look);
        streams.delete(stream);
      });
      send("retry: 2000\n\n");
      return reply
        .header("content-type", "text/event-stream; charset=utf-8")
        .header("x-accel-buffering", "no")
        .send(stream);
    },
  );
}
