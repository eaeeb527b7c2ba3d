// Form for a new access token: name and expiry.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { CreatedAccessToken } from "../../src/http/accounts/schemas.ts";
import { createAccessToken } from "../mutations/keys.ts";
import { accessTokensQuery } from "../queries/access-tokens.ts";
import { defaultExpiry, ExpiryField, expiryOf } from "./ExpiryField.tsx";
import { NameField } from "./NameField.tsx";
import { SubmitRow } from "./SubmitRow.tsx";
import { textOf, useSubmit } from "./submit.ts";

export function AccessTokenForm({ onDone }: { onDone: (token: CreatedAccessToken) => void }) {
  const queries = useQueryClient();
  const [expiry, setExpiry] = useState(defaultExpiry);
  const { form, busy, faults, failure } = useSubmit<CreatedAccessToken>({
    send: fields => createAccessToken({ name: textOf(fields, "name"), ...expiryOf(expiry) }),
    done: async token => {
      await queries.invalidateQueries({ queryKey: accessTokensQuery.queryKey });
      onDone(token);
    },
  });
  return (
    <form {...form} className="stack">
      <NameField hint="Where you use it: “GitHub Actions”, “my laptop”" fault={faults["name"]} />
      <ExpiryField
        value={expiry}
        onChange={setExpiry}
        risk="Anyone who has this token can read everything in your account"
      />
      <SubmitRow failure={failure} busy={busy}>
        Create token
      </SubmitRow>
    </form>
  );
}
