// Checkbox that also revokes all access tokens with a new password.
import { numberText } from "../format.ts";

const name = "revokeAccessTokens";

export function RevokeTokensField() {
  return (
    <label className="choice">
      <input type="checkbox" name={name} />
      <span>
        Also revoke all access tokens
        <span className="quiet small"> — if somebody else may know your old password</span>
      </span>
    </label>
  );
}

export function revokesTokens(fields: FormData): boolean {
  return fields.has(name);
}

/** What a client must know after the change; empty if no token is left. */
export function tokensLeftText(activeAccessTokens: number): string {
  if (activeAccessTokens === 0) return "";
  const tokens = activeAccessTokens === 1 ? "access token still works" : "access tokens still work";
  return `${numberText(activeAccessTokens)} ${tokens}. Review under Settings, Access tokens.`;
}
