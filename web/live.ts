// What happens while a page is open: heard from the server's events, asked for in intervals where they do not arrive.
import { useEffect, useRef, useState } from "react";
import type { ServiceEvent } from "../src/model/event.ts";

/** `polling`: no connection at the moment; the listener is told to read again every few seconds. */
export type LiveState = "connecting" | "live" | "polling";

/** `refresh` stands for all that may have been missed: read again. */
export type LiveEvent = ServiceEvent;

type Scope = { agentId?: string; projectId?: string };
type Listener = { hear: (event: LiveEvent) => void; tell: (state: LiveState) => void };
type Channel = { listeners: Set<Listener>; state: LiveState; close: () => void };

const pollMs = 5_000;
/** An address is asked again only this long after it refused for good, as while a server restarts. */
const reopenMs = 3_000;
/**
 * Over HTTP/1.1 a browser opens six connections to one origin, for all its tabs together. So a hidden tab has no
 * stream, and the visible ones share so few that their requests always find a connection.
 */
const streamsMax = 3;
const missed: LiveEvent = { type: "refresh", agentId: null };
const kinds = ["trace", "run", "launch", "ingestion", "refresh"];
const channels = new Map<string, Channel>();

/** Hears one agent, one project, or everything of the account; all who hear the same share one connection. */
export function useLive(scope: Scope, hear: (event: LiveEvent) => void): LiveState {
  const [state, setState] = useState<LiveState>("connecting");
  const latest = useRef(hear);
  useEffect(() => {
    latest.current = hear;
  });
  const query = new URLSearchParams(scope).toString();
  useEffect(() => listen(query, { hear: event => latest.current(event), tell: setState }), [query]);
  return state;
}

function listen(query: string, listener: Listener): () => void {
  const channel = channels.get(query) ?? open(query);
  channel.listeners.add(listener);
  listener.tell(channel.state);
  return () => {
    channel.listeners.delete(listener);
    if (channel.listeners.size > 0) return;
    channel.close();
    channels.delete(query);
  };
}

function open(query: string): Channel {
  const channel: Channel = { listeners: new Set(), state: "connecting", close: () => {} };
  channels.set(query, channel);
  const say = (event: LiveEvent) => {
    for (const { hear } of channel.listeners) hear(event);
  };
  const turn = (state: LiveState) => {
    channel.state = state;
    for (const { tell } of channel.listeners) tell(state);
  };
  // Whether something may have been missed since listeners last read.
  let behind = false;
  let closeStream: (() => void) | undefined;
  const attend = () => {
    if (!document.hidden) {
      closeStream ??= openStream(query, {
        opened: () => {
          turn("live");
          if (behind) say(missed);
          behind = false;
        },
        lost: () => {
          turn("polling");
          behind = true;
        },
        heard: say,
      });
    } else if (closeStream) {
      closeStream();
      closeStream = undefined;
      turn("connecting");
      behind = true;
    }
  };
  // Also where a proxy holds the stream back, so that it neither opens nor fails.
  const polling = setInterval(() => {
    if (document.hidden || channel.state === "live") return;
    turn("polling");
    behind = true;
    say(missed);
  }, pollMs);
  document.addEventListener("visibilitychange", attend);
  attend();
  channel.close = () => {
    document.removeEventListener("visibilitychange", attend);
    clearInterval(polling);
    closeStream?.();
  };
  return channel;
}

type StreamListener = { opened: () => void; lost: () => void; heard: (event: LiveEvent) => void };

/** Connects, and again whenever the connection is lost, until the returned function is called. */
function openStream(query: string, { opened, lost, heard }: StreamListener): () => void {
  let closed = false;
  let again: ReturnType<typeof setTimeout> | undefined;
  let leave = () => {};

  const connect = async () => {
    const giveBack = await takePlace();
    const source = giveBack && !closed ? new EventSource(`/api/events?${query}`) : undefined;
    leave = () => {
      source?.close();
      giveBack?.();
    };
    if (closed) return leave();
    const giveUp = () => {
      leave();
      again = setTimeout(() => void connect(), reopenMs);
    };
    if (!source) {
      lost();
      return giveUp();
    }
    source.onopen = opened;
    source.onerror = () => {
      lost();
      // The browser tries again by itself, but gives up for good on an answer that is no stream.
      if (source.readyState === EventSource.CLOSED) giveUp();
    };
    for (const kind of kinds) {
      source.addEventListener(kind, event => heard(JSON.parse((event as MessageEvent<string>).data)));
    }
  };
  void connect();
  return () => {
    closed = true;
    clearTimeout(again);
    leave();
  };
}

/**
 * Takes one of the places that this browser has for streams; undefined while all are taken. Without Web Locks, which
 * browsers keep from pages that came over plain HTTP from another machine, there is always one.
 */
async function takePlace(): Promise<(() => void) | undefined> {
  if (!navigator.locks) return () => {};
  for (let place = 0; place < streamsMax; place++) {
    const held = Promise.withResolvers<void>();
    const got = await new Promise<boolean>(resolve => {
      navigator.locks
        .request(`live-${place}`, { ifAvailable: true }, lock => {
          resolve(lock !== null);
          return lock && held.promise;
        })
        .catch(() => resolve(true));
    });
    if (got) return held.resolve;
  }
  return undefined;
}
