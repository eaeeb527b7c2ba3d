// The link from a turn to the span, attribute or event that it was read from.
import type { Turn } from "../../../../src/model/trace/shown.ts";
import { useConventionTitles } from "../../../forms/ReadIt.tsx";
import { Button } from "../../../ui/Button.tsx";
import { useTurns } from "./turns.ts";

export function TurnPlace({ turn: { spanId, attribute, event, translated } }: { turn: Turn }) {
  const { trace, onSelect } = useTurns();
  const name = trace.spans.find(span => span.spanId === spanId)?.name ?? spanId;
  const titleOf = useConventionTitles(trace.agentId, translated !== null);
  const sent = attribute ?? (event === null ? "span" : `event ${event}`);
  const place = translated ? `${sent}, read by ${titleOf(translated.convention)}` : sent;
  return (
    <Button
      small
      look="link"
      className="turn-place"
      title={`${name}: ${place}`}
      aria-label={`Show ${place} of span ${name}`}
      onClick={() => onSelect({ span: spanId, attribute })}
    >
      {name}
    </Button>
  );
}
