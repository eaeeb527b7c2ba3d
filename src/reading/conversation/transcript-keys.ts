// The keys by which messages and calls of tools are known again, where a history repeats them.
import { parseJson } from "../../model/json-text.ts";
import { speakerOf } from "../span/conversation.ts";
import type { ReadPiece } from "../span/message-parts.ts";

/** The id decides: messages and spans may name the tool differently. */
export function callKey(name: string, id: string | null): string {
  return id === null ? `name ${name}` : `id ${id}`;
}

/** Equal for arguments that differ in white space. */
export function argumentsKey(name: string, args: unknown): string {
  const value = typeof args === "string" ? (parseJson(args) ?? args) : args;
  return `arguments ${name} ${JSON.stringify(value)}`;
}

/** Equal for repetitions of a message; histories often leave the reasoning out. */
export function keyOf(role: string, pieces: ReadPiece[]): string {
  const speaker = speakerOf(role);
  const visible = pieces.filter(({ kind }) => kind !== "reasoning");
  const texts = (visible.length > 0 ? visible : pieces).map(piece =>
    piece.kind === "media" ? piece.name : `${piece.kind} ${piece.text}`,
  );
  return `${speaker === "other" ? role : speaker}\n${texts.join("\n")}`;
}
