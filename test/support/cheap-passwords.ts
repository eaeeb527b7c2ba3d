// A password hash that takes no time, for services whose tests create many accounts.

import { createHash } from "node:crypto";
import type { PasswordHashing } from "../../src/http/frame/deps.ts";

const digest = (password: string) => createHash("sha256").update(password).digest("hex");

export const cheapPasswords: PasswordHashing = {
  hash: async password => digest(password),
  verify: async ({ hash, password }) => hash === digest(password),
};
