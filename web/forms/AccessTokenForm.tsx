// A new access token: its name, and until when it is good.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../api.ts";
import { accessTokensQuery } from "../queries/access-tokens.ts";
import type { CreatedAccessToken } from "../shapes.ts";
import { Button } from "../ui/Button.tsx";
import { FailureNotice, Notice } from "../ui/Notice.tsx";
import { NameField } from "./NameField.tsx";
import { textOf, useSubmit } from "./submit.ts";

const days = [7, 30, 60, 90, 180, 365];

export function AccessTokenForm({ onDone }: { onDone: (token: CreatedAccessToken) => void }) {
  const queries = useQueryClient();
  const [expiry, setExpiry] = useState("90");
  const { form, busy, faults, failure } = useSubmit<CreatedAccessToken>({
    send: fields =>
      ask("POST", "/api/access-tokens", {
        body: {
          name: textOf(fields, "name"),
          ...(expiry === "never" ? { neverExpires: true } : { expiresInDays: Number(expiry) }),
        },
      }),
    done: async token => {
      await queries.invalidateQueries({ queryKey: accessTokensQuery.queryKey });
      onDone(token);
    },
  });
  return (
    <form {...form} className="stack">
      <NameField hint="Where it is kept: “GitHub Actions”, “my laptop”." fault={faults["name"]} />
      <div className="field">
        <label htmlFor="token-expiry">Expires</label>
        <select
          id="token-expiry"
          className="input"
          value={expiry}
          onChange={event => setExpiry(event.target.value)}
        >
          {days.map(count => (
            <option key={count} value={count}>
              {count} days
            </option>
          ))}
          <option value="never">Never</option>
        </select>
      </div>
      {expiry === "never" && (
        <Notice tone="warn" role="status">
          Whoever finds this token can read everything of yours until it is revoked. A token with an end is
          safer.
        </Notice>
      )}
      <FailureNotice failure={failure} />
      <div className="line line-end">
        <Button type="submit" look="main" busy={busy}>
          Make token
        </Button>
      </div>
    </form>
  );
}
