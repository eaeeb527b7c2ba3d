// Lines to copy, with what to do with them above.
import { useId } from "react";
import { Copy } from "../../ui/Copy.tsx";

type CodeFigureProps = { title?: string; text: string; onCopied: () => void };

export function CodeFigure({ title, text, onCopied }: CodeFigureProps) {
  const id = useId();
  return (
    <figure className="start-snippet" aria-labelledby={title === undefined ? undefined : id}>
      {title !== undefined && (
        <figcaption id={id} className="small">
          {title}
        </figcaption>
      )}
      <pre>
        <code>{text}</code>
      </pre>
      <Copy text={text} onCopied={onCopied}>
        Copy
      </Copy>
    </figure>
  );
}
