// A section of the editor's form: one line until it is opened.
import type { ReactNode } from "react";
import { Icon } from "../../ui/Icon.tsx";
import { useEditorContext } from "./editor-context.ts";
import { foldsOf, type SectionName } from "./sections.ts";

type SectionProps = {
  name: SectionName;
  title: string;
  /** What the section says, while it is closed. */
  line: ReactNode;
  /** Shown also while it is closed. */
  notice?: ReactNode;
  children: ReactNode;
};

export function Section({ name, title, line, notice, children }: SectionProps) {
  const { folds, issues, isDue } = useEditorContext();
  const open = folds.isOpen(name);
  const issue = issues.find(({ path }) => foldsOf(path, noChecks)[0] === name && isDue(path));
  return (
    <section className="card editor-section" data-open={open || undefined}>
      <h2>
        <button
          type="button"
          className="editor-fold"
          data-section={name}
          aria-expanded={open}
          onClick={() => folds.toggle(name)}
        >
          <Icon name="chevron" />
          <span className="editor-section-title">{title}</span>
          {!open &&
            (issue ? (
              <span className="editor-line field-fault">
                <Icon name="warning" />
                <span className="break">{issue.message}</span>
              </span>
            ) : (
              <span className="editor-line">{line}</span>
            ))}
        </button>
      </h2>
      {open && <div className="stack editor-section-body">{children}</div>}
      {notice}
    </section>
  );
}

const noChecks = { document: {}, keys: [] };
