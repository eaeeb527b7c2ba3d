// Messages between the sandbox and its thread.
import type { SandboxAnswer, SandboxQuestion } from "../../model/sandbox.ts";

/** Questions of one agent. The thread writes the position of the one it works at to `progress`. */
export type SandboxBatch = { questions: SandboxQuestion[]; progress: Int32Array };

/** The `progress` of a batch that the thread has not started on. */
export const notStarted = -1;

/** `ms`: CPU time. */
export type TimedAnswer = { answer: SandboxAnswer; ms: number };

/** A batch that has taken this long is returned unfinished. Agents take turns by batches. */
export const batchMs = 50;
