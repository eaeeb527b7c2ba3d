// Query for the account's access tokens.
import type { AccessToken } from "../../src/http/accounts/schemas.ts";
import { pagesOf } from "./pages.ts";

export const accessTokensQuery = pagesOf<AccessToken>(["access-tokens"], "/api/access-tokens", 50);
