// The account's access tokens.
import type { AccessToken } from "../shapes.ts";
import { pagesOf } from "./pages.ts";

export const accessTokensQuery = pagesOf<AccessToken>(["access-tokens"], "/api/access-tokens", 50);
