// A page by itself, for whoever is signed out or comes from a mail.
import type { ReactNode } from "react";
import { Logo } from "./Logo.tsx";

export function Lone({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="lone">
      <title>{`${title} · Onlooker`}</title>
      <header>
        <Logo />
      </header>
      <main>
        <h1>{title}</h1>
        <div className="stack">{children}</div>
      </main>
    </div>
  );
}
