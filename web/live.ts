// Live updates: subscribes to the server's event stream, and polls while the stream is down.
import { useEffect, useRef, useState } from "react";
import type { ServiceEvent } from "../src/model/event.ts";
import type { LiveState } from "./live-state.ts";

/** `refresh`: events may have been missed, so refetch. */
export type LiveEvent = ServiceEvent;

type Scope = { agentId?: string; projectId?: string };
type Listener = { onEvent: (event: LiveEvent) => void; onState: (state: LiveState) => void };
type Channel = { listeners: Set<Listener>; state: LiveState; close: () => void };

const pollMs = 5_000;
/** Delay before reconnecting when the browser has given up, as it does while a server restarts. */
const reconnectMs = 3_000;
/**
 * Over HTTP/1.1 a browser opens six connections to one origin, for all its tabs together. So hidden tabs have no stream,
 * and the visible ones have three at most, which leaves connections for requests.
 */
const streamsMax = 3;
const missed: LiveEvent = { type: "refresh", agentId: null };
const kinds = ["trace", "run", "launch", "ingestion", "refresh"];
const channels = new Map<string, Channel>();

/** Subscribes to the events of an agent, a project or the whole account. Subscriptions to the same share one stream. */
export function useLive(scope: Scope, onEvent: (event: LiveEvent) => void): LiveState {
  const [state, setState] = useState<LiveState>("connecting");
  const latest = useRef(onEvent);
  useEffect(() => {
    latest.current = onEvent;
  });
  const query = new URLSearchParams(scope).toString();
  useEffect(() => subscribe(query, { onEvent: event => latest.current(event), onState: setState }), [query]);
  return state;
}

function subscribe(query: string, listener: Listener): () => void {
  const channel = channels.get(query) ?? open(query);
  channel.listeners.add(listener);
  listener.onState(channel.state);
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
  const emit = (event: LiveEvent) => {
    for (const { onEvent } of channel.listeners) onEvent(event);
  };
  const setState = (state: LiveState) => {
    channel.state = state;
    for (const { onState } of channel.listeners) onState(state);
  };
  // Whether listeners may have missed events since their last fetch.
  let hasMissed = false;
  let closeStream: (() => void) | undefined;
  const openOrClose = () => {
    if (!document.hidden) {
      closeStream ??= openStream(query, {
        onOpen: () => {
          setState("live");
          if (hasMissed) emit(missed);
          hasMissed = false;
        },
        onLost: () => {
          setState("polling");
          hasMissed = true;
        },
        onEvent: emit,
      });
    } else if (closeStream) {
      closeStream();
      closeStream = undefined;
      setState("connecting");
      hasMissed = true;
    }
  };
  // Also covers a proxy that buffers the stream, so that it neither opens nor fails.
  const polling = setInterval(() => {
    if (document.hidden || channel.state === "live") return;
    setState("polling");
    hasMissed = true;
    emit(missed);
  }, pollMs);
  document.addEventListener("visibilitychange", openOrClose);
  openOrClose();
  channel.close = () => {
    document.removeEventListener("visibilitychange", openOrClose);
    clearInterval(polling);
    closeStream?.();
  };
  return channel;
}

type StreamListener = { onOpen: () => void; onLost: () => void; onEvent: (event: LiveEvent) => void };

/** Connects, and reconnects whenever the connection is lost, until the returned function is called. */
function openStream(query: string, { onOpen, onLost, onEvent }: StreamListener): () => void {
  let closed = false;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let disconnect = () => {};

  const connect = async () => {
    const release = await acquireSlot();
    const source = release && !closed ? new EventSource(`/api/events?${query}`) : undefined;
    disconnect = () => {
      source?.close();
      release?.();
    };
    if (closed) return disconnect();
    const reconnectLater = () => {
      disconnect();
      retry = setTimeout(() => void connect(), reconnectMs);
    };
    if (!source) {
      onLost();
      return reconnectLater();
    }
    source.onopen = onOpen;
    source.onerror = () => {
      onLost();
      // The browser reconnects automatically, except after a response that is not an event stream.
      if (source.readyState === EventSource.CLOSED) reconnectLater();
    };
    for (const kind of kinds) {
      source.addEventListener(kind, event => onEvent(JSON.parse((event as MessageEvent<string>).data)));
    }
  };
  void connect();
  return () => {
    closed = true;
    clearTimeout(retry);
    disconnect();
  };
}

/**
 * Acquires one of the browser's `streamsMax` slots for streams, shared by all tabs; undefined if all are taken. Without
 * Web Locks, which browsers disable for plain HTTP from another machine, streams are not limited.
 */
async function acquireSlot(): Promise<(() => void) | undefined> {
  if (!navigator.locks) return () => {};
  for (let slot = 0; slot < streamsMax; slot++) {
    const held = Promise.withResolvers<void>();
    const acquired = await new Promise<boolean>(resolve => {
      navigator.locks
        .request(`live-${slot}`, { ifAvailable: true }, lock => {
          resolve(lock !== null);
          return lock && held.promise;
        })
        .catch(() => resolve(true));
    });
    if (acquired) return held.resolve;
  }
  return undefined;
}
