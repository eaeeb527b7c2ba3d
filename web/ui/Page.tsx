// A screen's frame: the browser's title, the heading, and what can be done here.
import type { ReactNode } from "react";

type PageProps = {
  title: string;
  /** Beside the heading. */
  actions?: ReactNode;
  /** A sentence under the heading. */
  about?: ReactNode;
  children: ReactNode;
};

export function Page({ title, actions, about, children }: PageProps) {
  return (
    <>
      <title>{`${title} · Onlooker`}</title>
      <header className="page-top">
        <div className="stack-tight">
          <h1>{title}</h1>
          {about && <p className="quiet">{about}</p>}
        </div>
        {actions && <div className="line">{actions}</div>}
      </header>
      {children}
    </>
  );
}
