// A page by itself, for whoever is signed out or comes from a mail; what is to be filled in first has the focus.
import { type ReactNode, useEffect, useRef } from "react";
import { Title } from "../ui/Title.tsx";
import { arrival } from "./arrival.ts";
import { Logo } from "./Logo.tsx";

export function Lone({ title, children }: { title: string; children: ReactNode }) {
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    arrival.fromLone = true;
    main.current?.querySelector("input")?.focus();
  }, []);
  return (
    <div className="lone">
      <Title text={title} />
      <header>
        <Logo />
      </header>
      <main ref={main}>
        <h1>{title}</h1>
        <div className="stack">{children}</div>
      </main>
    </div>
  );
}
