// The text of a notice: one line until expanded, because the panes below need the space.
import { type ReactNode, useState } from "react";
import { Button } from "../../ui/Button.tsx";

export function Brief({ children }: { children: ReactNode }) {
  const [whole, setWhole] = useState(false);
  return (
    <div className="brief">
      <p data-whole={whole || undefined}>{children}</p>
      <Button small look="link" aria-expanded={whole} onClick={() => setWhole(!whole)}>
        {whole ? "Less" : "More"}
      </Button>
    </div>
  );
}
