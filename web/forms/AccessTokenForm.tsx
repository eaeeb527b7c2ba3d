// Form for a new access token: name, what it is for, and expiry.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { CreatedAccessToken } from "../../src/http/accounts/schemas.ts";
import type { TokenScope } from "../../src/model/access-token.ts";
import { createAccessToken } from "../mutations/keys.ts";
import { accessTokensQuery } from "../queries/access-tokens.ts";
import { type Choice, Choices } from "../ui/Field.tsx";
import { defaultExpiry, ExpiryField, expiryOf } from "./ExpiryField.tsx";
import { NameField } from "./NameField.tsx";
import { SubmitRow } from "./SubmitRow.tsx";
import { textOf, useSubmit } from "./submit.ts";

const scopes: Choice<TokenScope>[] = [
  { value: "runs", label: "Read data and run tests" },
  { value: "erasures", label: "Erase data", note: "Nothing else, in all projects of this account." },
];

export function AccessTokenForm({ onDone }: { onDone: (token: CreatedAccessToken) => void }) {
  const queries = useQueryClient();
  const [expiry, setExpiry] = useState(defaultExpiry);
  const [scope, setScope] = useState<TokenScope>("runs");
  const { form, busy, faults, failure } = useSubmit<CreatedAccessToken>({
    send: fields => createAccessToken({ name: textOf(fields, "name"), scope, ...expiryOf(expiry) }),
    done: async token => {
      // The token is shown only once, so not only after the list has loaded.
      onDone(token);
      await queries.invalidateQueries({ queryKey: accessTokensQuery.queryKey });
    },
  });
  return (
    <form {...form} className="stack">
      <NameField hint="Where you use it: “GitHub Actions”, “my laptop”" fault={faults["name"]} />
      <Choices
        name="scope"
        label="Use"
        choices={scopes}
        chosen={[scope]}
        onChoose={([chosen]) => setScope(chosen!)}
        fault={faults["scope"]}
      />
      <ExpiryField
        value={expiry}
        onChange={setExpiry}
        risk={
          scope === "runs"
            ? "Anyone who has this token can read everything in your account"
            : "Anyone who has this token can erase traces of all your projects"
        }
      />
      <SubmitRow failure={failure} busy={busy}>
        Create token
      </SubmitRow>
    </form>
  );
}
