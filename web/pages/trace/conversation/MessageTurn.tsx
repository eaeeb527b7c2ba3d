// One message: its role, its text, and the link to its span.
import type { Piece, Turn } from "../../../../src/model/trace/shown.ts";
import { numberText } from "../../../format.ts";
import { Icon } from "../../../ui/Icon.tsx";
import type { IconName } from "../../../ui/icons.ts";
import { CopyPassages } from "./CopyPassages.tsx";
import { PassageText, PassageValue } from "./PassageText.tsx";
import { TurnPlace } from "./TurnPlace.tsx";

type Message = Extract<Turn, { kind: "message" }>;
type Speaker = { text: string; icon: IconName; look: "user" | "assistant" | "system" | "tool" };

const user: Speaker = { text: "User", icon: "person", look: "user" };
const assistant: Speaker = { text: "Agent", icon: "agent", look: "assistant" };
const system: Speaker = { text: "System", icon: "gear", look: "system" };
const tool: Speaker = { text: "Tool", icon: "tool", look: "tool" };
const speakers: Partial<Record<string, Speaker>> = {
  user,
  human: user,
  assistant,
  model: assistant,
  ai: assistant,
  system,
  developer: { ...system, text: "Developer" },
  tool,
  function: tool,
};

export function MessageTurn({ turn }: { turn: Message }) {
  const speaker = speakers[turn.role.toLowerCase()] ?? { ...assistant, text: turn.role };
  const texts = turn.pieces.filter(piece => piece.kind === "text" || piece.kind === "refusal");
  const length = texts.reduce((sum, piece) => sum + piece.length, 0);
  const body = turn.pieces.map((piece, at) => <PieceView key={at} piece={piece} speaker={speaker} />);
  return (
    <article className="turn-message" data-role={speaker.look} aria-label={speaker.text}>
      <header className="turn-top">
        <span className="turn-who">
          <Icon name={speaker.icon} />
          <span className="break">{speaker.text}</span>
        </span>
        <span className="turn-actions">
          <TurnPlace turn={turn} />
          {texts.length > 0 && <CopyPassages passages={texts} what="message" of={speaker.text} />}
        </span>
      </header>
      {speaker.look === "system" && length > systemMax ? (
        <details>
          <summary>Instructions, {numberText(length)} characters</summary>
          {body}
        </details>
      ) : (
        body
      )}
    </article>
  );
}

/** Longer system messages are folded, so that the conversation comes first. */
const systemMax = 280;

function PieceView({ piece, speaker }: { piece: Piece; speaker: Speaker }) {
  switch (piece.kind) {
    case "text":
      return (
        <PassageText
          passage={piece}
          label={`Message of ${speaker.text}`}
          markdown={speaker.look === "user" || speaker.look === "assistant"}
        />
      );
    case "refusal":
      return (
        <>
          <p className="turn-media quiet">Refusal</p>
          <PassageText passage={piece} label="Refusal" />
        </>
      );
    case "reasoning":
      return (
        <details className="turn-reasoning">
          <summary>Reasoning, {numberText(piece.length)} characters</summary>
          <PassageText passage={piece} label="Reasoning" />
        </details>
      );
    case "media":
      return (
        <p className="turn-media quiet">
          <Icon name="log" />
          <span className="break">{piece.name}, not loaded</span>
        </p>
      );
    case "other":
      return (
        <details className="turn-reasoning">
          <summary className="break">Part of type {piece.name}</summary>
          <PassageValue passage={piece} label={piece.name} />
        </details>
      );
  }
}
