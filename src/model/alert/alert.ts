// Alerts: the state of a test on live traffic, the messages that tell owners about it, and their deliveries.
import { z } from "zod";
import { callableUrl } from "../agent/connection.ts";

/** `failing` after three failures in a row, `fine` at first and after three passes. */
export type TestState = "fine" | "failing";

export type AlertedTest = {
  id: string;
  name: string;
  /** The state now; `changes` counts how often it changed since the last message. */
  state: TestState;
  /** When the first trace of the three that led to the state arrived; ISO 8601. */
  since: string | null;
  changes: number;
  last24Hours: { passed: number; failed: number };
  url: string;
  firstTraceUrl: string | null;
};

/** What a message is written from. */
export type AlertedAgent = { id: string; name: string; projectId: string; projectName: string };

export type ChangedTest = {
  id: string;
  name: string;
  state: TestState;
  since: Date | null;
  /** The first trace of the three that led to the state; null if it was deleted. */
  firstTraceId: string | null;
  changes: number;
  passed: number;
  failed: number;
};

export type Digest = {
  agent: AlertedAgent;
  failingTests: number;
  changedTests: number;
  /** Failing ones first; at most `alertedTestsMax`. */
  tests: ChangedTest[];
};

type About = {
  project: { id: string; name: string };
  agent: { id: string; name: string; url: string };
};

/** Names, counts and links: never text of traces. The body of webhooks, and what emails are written from. */
export type AlertMessage =
  | { type: "test"; timestamp: string; data: About }
  | {
      type: "test_states.changed";
      timestamp: string;
      data: About & {
        /** How many tests of the agent are failing now. */
        failingTests: number;
        /** How many tests changed; `tests` has the first `alertedTestsMax` of them. */
        changedTests: number;
        tests: AlertedTest[];
      };
    };

export const alertedTestsMax = 50;

export type DeliveryKind = "alert" | "test";
export type DeliveryState = "pending" | "delivered" | "failed";

/** The pauses in seconds after each failed attempt, 24 hours in all; after the last attempt the delivery has failed. */
export const retryDelaysS = [60, 300, 900, 3_600, 7_200, 14_400, 28_800, 31_140];

export const webhookSchema = z.strictObject({ url: callableUrl });
