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
const missed: LiveEvent = { type: "refresh", agentId: null };
const kinds = ["trace", "run", "ingestion", "refresh"];
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
  let source: EventSource;
  let reopening: ReturnType<typeof setTimeout> | undefined;
  let wasLost = false;

  const connect = () => {
    source = new EventSource(`/api/events?${query}`);
    source.onopen = () => {
      turn("live");
      if (wasLost) say(missed);
      wasLost = false;
    };
    source.onerror = () => {
      wasLost = true;
      turn("polling");
      if (source.readyState !== EventSource.CLOSED) return;
      // The browser gives up for good on an answer that is no stream.
      clearTimeout(reopening);
      reopening = setTimeout(connect, reopenMs);
    };
    for (const kind of kinds) {
      source.addEventListener(kind, event => say(JSON.parse((event as MessageEvent<string>).data)));
    }
  };
  connect();
  // Also where a proxy holds the stream back, so that it neither opens nor fails.
  const polling = setInterval(() => {
    if (channel.state === "live") return;
    turn("polling");
    say(missed);
  }, pollMs);
  channel.close = () => {
    source.close();
    clearTimeout(reopening);
    clearInterval(polling);
  };
  return channel;
}
