// Reads the values of the command's options; an invalid value is an error that says what is valid.
import { type Command, InvalidArgumentError } from "commander";
import { repeatsMax } from "../model/test-case/inputs.ts";
import { CliError } from "./client.ts";
import { type FailureKind, failureKinds } from "./report.ts";

export function nonEmpty(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  return text.trim();
}

/** Not in an option parser, because its error would print the token. */
export function requireToken(command: Command, token: string | undefined): string {
  if (!token) return command.error("error: no access token: set SVC_TOKEN or pass --token");
  if (!/^[\x21-\x7e]+$/.test(token))
    return command.error(
      "error: invalid access token: it contains a space or another character that tokens do not have",
    );
  return token;
}

export function readCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

export function readFailOn(text: string): FailureKind[] {
  return text.split(",").map(name => {
    const kind = failureKinds.find(one => one === name.trim());
    if (kind === undefined) throw new InvalidArgumentError(`It must be of ${failureKinds.join(", ")}.`);
    return kind;
  });
}

/** Its path, if there is one, is that of a proxy. */
export function serviceUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError("It must be a URL, such as https://onlooker.example.com.");
  }
  // The parser's own error would print the password.
  if (url.username + url.password !== "") throw new CliError("--url must not contain a user or password.");
  if (url.search + url.hash !== "") {
    throw new InvalidArgumentError("It must have no query or fragment, as in https://onlooker.example.com.");
  }
  return text.replace(/(?<!\/)\/+$/, "");
}

/** "0.9" or "90%", as a share from 0 to 1. */
export function readShare(text: string): number {
  const [, digits, percent] = /^(\d+(?:\.\d+)?|\.\d+)\s*(%?)$/.exec(text.trim()) ?? [];
  const share = Number(digits) / (percent ? 100 : 1);
  if (share >= 0 && share <= 1) return share;
  throw new InvalidArgumentError("It must be from 0 to 1, such as 0.9, or a percentage, such as 90%.");
}

export function readRepeats(text: string): number {
  const repeats = Number(text);
  if (/^\d+$/.test(text) && repeats >= 1 && repeats <= repeatsMax) return repeats;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${repeatsMax}.`);
}
