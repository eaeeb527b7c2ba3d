// Prints every line of the commands: whatever text of others is in one, it stays one line, and only prints.

/** A result, on standard output. */
export function print(line: string): void {
  process.stdout.write(`${printable(line)}\n`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${jsonLine(value)}\n`);
}

/** Progress, warnings and errors, on standard error, so that scripts can read standard output. */
export function say(line: string): void {
  process.stderr.write(`${printable(line)}\n`);
}

/** Control characters and separators of lines, and characters that hide or turn the text around them. Joiners are in names. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;

/** One line that neither moves the cursor, nor starts another line, nor reads in another order than it is. */
export function printable(text: string): string {
  return text
    .replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, " ")
    .replace(unprintable, "\uFFFD")
    .toWellFormed();
}

/** With what a terminal would act on written as an escape, which means the same. */
export function jsonLine(value: unknown): string {
  const escaped = (char: string) =>
    char
      .split("")
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join("");
  return JSON.stringify(value).replace(unprintable, escaped);
}
