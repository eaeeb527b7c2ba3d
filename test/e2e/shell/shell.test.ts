// The frame of the dashboard in a browser: accounts, keys, settings, deep links, the keyboard.
import "./shell.ts";
import "./sign-up.ts";
import "./session-end.ts";
import "./first-minutes.ts";
import "./access-tokens.ts";
import "./keys.ts";
import "./lost-code.ts";
import "./erase-data.ts";
import "./rate-limits.ts";
import "./retention.ts";
import "./back-after-deleting.ts";
import "./keyboard.ts";
import "./deep-links.ts";
import "./accessibility.ts";
