// Copy buttons that confirm in place.
import { useEffect, useState } from "react";
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

/** A short text such as an ID with a copy button; `label` names it: "agent ID". */
export function CopyText({ text, label }: { text: string; label: string }) {
  const [copied, copy] = useCopy(text);
  return (
    <span className="copy-text">
      <code title={text}>{text}</code>
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
