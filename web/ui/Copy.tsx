// Copy buttons that confirm in place.
import { type ReactNode, useEffect, useState } from "react";
import { Button, type ButtonProps } from "./Button.tsx";
import { toast } from "./Toast.tsx";

type CopyProps = {
  text: string;
  children: string;
  look?: ButtonProps["look"];
  small?: boolean;
  onCopied?: () => void;
};

/** A button that copies `text`. */
export function Copy({ text, children, look, small = false, onCopied }: CopyProps) {
  const [copied, copy] = useCopy(text, onCopied);
  return (
    <Button {...(look && { look })} small={small} icon={copied ? "check" : "copy"} onClick={copy}>
      {copied ? "Copied" : children}
    </Button>
  );
}

type CopyTextProps = {
  text: string;
  /** Names the text: "agent ID". */
  label: string;
  /** Shown in place of the text. */
  children?: ReactNode;
};

/** A short text such as an ID with a copy button. */
export function CopyText({ text, label, children = text }: CopyTextProps) {
  const [copied, copy] = useCopy(text);
  return (
    <span className="copy-text">
      <code title={text}>{children}</code>
      <Button
        look="plain"
        small
        icon={copied ? "check" : "copy"}
        aria-label={copied ? `Copied ${label}` : `Copy ${label}`}
        onClick={copy}
      />
    </span>
  );
}

function useCopy(text: string, onCopied?: () => void): [copied: boolean, copy: () => void] {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      onCopied?.();
    } catch {
      // Browsers offer no clipboard on plain HTTP from another machine.
      toast("The browser blocked copying. Select the text instead.");
    }
  };
  return [copied, () => void copy()];
}
