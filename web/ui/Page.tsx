// The frame of a page: document title, heading, description and actions.
import type { ReactNode } from "react";
import { Title } from "./Title.tsx";

type PageProps = {
  title: string;
  /** On the line of the heading. */
  beside?: ReactNode;
  /** The visible part of the page, for the document title. */
  part?: string | undefined;
  /** Buttons beside the heading. */
  actions?: ReactNode;
  /** A sentence under the heading. */
  about?: ReactNode;
  children: ReactNode;
};

export function Page({ title, beside, part, actions, about, children }: PageProps) {
  return (
    <>
      <Title text={part === undefined ? title : `${part} · ${title}`} />
      <header className="page-top">
        <div className="stack-tight">
          <div className="line">
            <h1>
              <bdi>{title}</bdi>
            </h1>
            {beside}
          </div>
          {about && <p className="quiet">{about}</p>}
        </div>
        {actions && <div className="line">{actions}</div>}
      </header>
      {children}
    </>
  );
}
