// Layout of pages without navigation: sign-in, sign-up and the pages that emails link to. Focuses the first field.
import { type ReactNode, useEffect, useRef } from "react";
import { Title } from "../ui/Title.tsx";
import { arrival } from "./arrival.ts";
import { Logo } from "./Logo.tsx";

export function AuthLayout({ title, children }: { title: string; children: ReactNode }) {
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    arrival.cameFromAuthPage = true;
    main.current?.querySelector("input")?.focus();
  }, []);
  return (
    <div className="auth-layout">
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
