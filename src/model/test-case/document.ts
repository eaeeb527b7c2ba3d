// A test case as it is stored, shown and exported.
import type { Assertion } from "./assertion.ts";

export type PassiveBehavior = "always_run" | "run_when_relevant" | "manual_only";

/** The document shared by form, JSON editor, export and results; the service adds ids and times. */
export type TestCaseDocument = {
  name: string;
  status: "active" | "disabled";
  passiveBehavior: PassiveBehavior;
  scenario: string;
  /** Semantic threshold. Anything can be stored; only a finite number in 0..1 is used. */
  threshold: unknown;
  turns: { input: string }[];
  /** The rows of a manual run: each takes the place of the only turn's input. Absent if there are none, never empty. */
  inputs?: { input: string }[];
  /** How often a manual run sends each input; absent: once. */
  repeats?: number;
  /** The traces whose words it has: one id, or a list of several. Never evaluated; erasures of these traces list the test. */
  draftedFrom?: string | string[];
  assertions: Assertion[];
};

/** `version` starts at 1 and increases with every change of the document. */
export type TestCase = TestCaseDocument & { id: string; agentId: string; version: number };
