// Markdown as a fixed set of elements, without HTML, images or unsafe links. Links show where they lead.
import type { ReactNode } from "react";
import { type Block, type Inline, readMarkdown } from "../markdown.ts";
import { TraceText } from "./TraceText.tsx";

type MarkdownProps = {
  text: string;
  /** For a text without markup. */
  plain: ReactNode;
};

export default function Markdown({ text, plain }: MarkdownProps) {
  const blocks = readMarkdown(text);
  return blocks ? (
    <div className="markdown">
      <Blocks blocks={blocks} />
    </div>
  ) : (
    plain
  );
}

function Blocks({ blocks }: { blocks: Block[] }) {
  return blocks.map((block, at) => <BlockView key={at} block={block} />);
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "paragraph":
      return (
        <p>
          <Inlines parts={block.children} />
        </p>
      );
    case "heading":
      // Not a heading of the page, whose outline is not the text's to change.
      return (
        <p className="markdown-heading" data-level={Math.min(block.level, 4)}>
          <Inlines parts={block.children} />
        </p>
      );
    case "code":
      return (
        <pre>
          <TraceText text={block.text} />
        </pre>
      );
    case "quote":
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case "list": {
      const items = block.items.map((blocks, at) => (
        <li key={at}>
          <Blocks blocks={blocks} />
        </li>
      ));
      return block.start === null ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
    }
    case "table":
      return <Table head={block.head} rows={block.rows} />;
    case "rule":
      return <hr />;
  }
}

function Table({ head, rows }: { head: Inline[][]; rows: Inline[][][] }) {
  return (
    <table>
      <thead>
        <tr>
          {head.map((cell, at) => (
            <th key={at} scope="col">
              <Inlines parts={cell} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, at) => (
              <td key={at}>
                <Inlines parts={cell} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Inlines({ parts }: { parts: Inline[] }) {
  return parts.map((part, at) => <InlineView key={at} part={part} />);
}

function InlineView({ part }: { part: Inline }) {
  switch (part.kind) {
    case "text":
      return <TraceText text={part.text} />;
    case "code":
      return (
        <code>
          <TraceText text={part.text} />
        </code>
      );
    case "break":
      return <br />;
    case "link": {
      const [child] = part.children;
      const isTarget =
        part.children.length === 1 && child?.kind === "text" && child.text.endsWith(part.target);
      return (
        <>
          <a href={part.href} target="_blank" rel="noopener noreferrer nofollow">
            <Inlines parts={part.children} />
          </a>
          {!isTarget && <span className="quiet"> ({part.target})</span>}
        </>
      );
    }
    default: {
      const Element = part.kind;
      return (
        <Element>
          <Inlines parts={part.children} />
        </Element>
      );
    }
  }
}
