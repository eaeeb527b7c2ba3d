// A secret that was just made, shown this once: to be copied, and closed when it is stored.
import { Button } from "../ui/Button.tsx";
import { Copy } from "../ui/Copy.tsx";
import { Dialog } from "../ui/Dialog.tsx";

type ShownOnceProps = {
  /** "key", as in "Your key “CI”". */
  noun: string;
  name: string;
  secret: string;
  /** Lines of variables with the secret among them. */
  environment: string;
  onClose: () => void;
};

export function ShownOnce({ noun, name, secret, environment, onClose }: ShownOnceProps) {
  return (
    <Dialog
      title={`Your ${noun} “${name}”`}
      about="This is the only time it is shown: it is not kept, only a hash of it."
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
