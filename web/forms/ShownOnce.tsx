// Dialog that shows a new key or token once, to be copied.
import { Button } from "../ui/Button.tsx";
import { Copy } from "../ui/Copy.tsx";
import { Dialog } from "../ui/Dialog.tsx";

type ShownOnceProps = {
  /** "key", as in "Your key “CI”". */
  noun: string;
  name: string;
  secret: string;
  /** Lines of environment variables, including the secret. */
  environment: string;
  /** Stored encrypted, because it is needed again; otherwise only a hash is stored. */
  isEncrypted?: boolean;
  onClose: () => void;
};

export function ShownOnce({ noun, name, secret, environment, isEncrypted = false, onClose }: ShownOnceProps) {
  return (
    <Dialog
      title={`Your ${noun} “${name}”`}
      about={`Copy the ${noun} now: it is shown only once. Onlooker stores ${isEncrypted ? "it encrypted" : "only a hash"}.`}
      dismissible={false}
      onClose={onClose}
    >
      <textarea
        className="input secret mono"
        aria-label={`The ${noun}`}
        readOnly
        rows={2}
        value={secret}
        onFocus={event => event.currentTarget.select()}
      />
      <div className="line">
        <Copy text={secret} look="main">
          Copy
        </Copy>
        <Copy text={environment}>Copy as environment</Copy>
      </div>
      <div className="line line-end">
        <Button onClick={onClose}>I’ve stored it</Button>
      </div>
    </Dialog>
  );
}
