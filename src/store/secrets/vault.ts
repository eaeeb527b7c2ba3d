// Encrypts stored secrets with the master key, each bound to its row.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

export type Vault = {
  /** `about` names the row, such as `agent:<id>`: a secret sealed for one row cannot be opened for another. */
  seal(text: string, about: string): Buffer;
  /** Undefined if it was sealed with another key, for another row, or was modified. */
  open(sealed: Buffer, about: string): string | undefined;
  /** A keyed hash of the text: it cannot be guessed from the database alone. */
  hash(text: string): string;
};

export const masterKeyBytes = 32;

/** Continues the name of a secret that `open` cannot read. */
export const unreadableSecret = "was encrypted with another key: enter it again";

// Format: version byte, nonce, AES-256-GCM tag, ciphertext.
const version = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes + tagBytes;

/** `masterKey` has 32 bytes; see `masterKeyOf`. */
export function openVault(masterKey: Buffer): Vault {
  if (masterKey.length !== masterKeyBytes) throw new RangeError("A master key must have 32 bytes.");
  const hashKey = Buffer.from(hkdfSync("sha256", masterKey, "", "hashes of texts", 32));
  return {
    seal(text, about) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", masterKey, nonce, { authTagLength: tagBytes });
      cipher.setAAD(Buffer.from(about));
      const encrypted = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), encrypted]);
    },
    open(sealed, about) {
      if (sealed.length < headBytes || sealed[0] !== version) return undefined;
      const nonce = sealed.subarray(1, 1 + nonceBytes);
      const decipher = createDecipheriv("aes-256-gcm", masterKey, nonce, { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(about));
      decipher.setAuthTag(sealed.subarray(1 + nonceBytes, headBytes));
      try {
        const text = Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()]);
        return text.toString("utf8");
      } catch {
        return undefined;
      }
    },
    hash: text => createHmac("sha256", hashKey).update(text).digest("base64url"),
  };
}
