// Ranks the commands of the palette: by how well their labels match the typed text, then by how recently they were used.

/** `more`: listed only when the user types or has used it, because there may be hundreds. */
export type Ranked = { id: string; label: string; more?: boolean };

/** The commands that match, best first. `recent` has the ids of used commands, the latest first. */
export function rank<C extends Ranked>(commands: readonly C[], text: string, recent: readonly string[]): C[] {
  const typed = text.trim().toLowerCase();
  const words = typed.split(/\s+/).filter(Boolean);
  const places = new Map(recent.map((id, at) => [id, at]));
  return commands
    .map((command, at) => ({
      command,
      at,
      match: matchOf(command.label.toLowerCase(), typed, words),
      used: places.get(command.id) ?? recent.length,
    }))
    .filter(({ command, match }) => match > 0 && (typed !== "" || !command.more || places.has(command.id)))
    .sort((one, other) => other.match - one.match || one.used - other.used || one.at - other.at)
    .map(({ command }) => command);
}

/**
 * 0: some word does not occur. "robot 3" finds Robot 3 before Robot 203: whole words count more than the starts of words,
 * and these more than other parts.
 */
function matchOf(label: string, typed: string, words: readonly string[]): number {
  if (words.length === 0) return 1;
  if (!words.every(word => label.includes(word))) return 0;
  if (label === typed) return 5;
  const own = label.split(/[\s:“”]+/);
  if (words.every(word => own.includes(word))) return 4;
  if (words.every(word => own.some(part => part.startsWith(word)))) return label.startsWith(typed) ? 3 : 2;
  return 1;
}

const recentMax = 30;

/** With this command as the latest. */
export function withUsed(recent: readonly string[], id: string): string[] {
  return [id, ...recent.filter(one => one !== id)].slice(0, recentMax);
}

/** A trace id as it was pasted: with spaces, quotes, in upper case or without hyphens; undefined for anything else. */
export function traceIdOf(text: string): string | undefined {
  const hex = text.replace(/[\s"'`{}()-]/g, "").toLowerCase();
  return /^[0-9a-f]{32}$/.test(hex)
    ? hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
    : undefined;
}

/** The text as an external id: long enough to be looked up while it is typed. Most have a digit; few labels do. */
export function externalIdOf(text: string): string | undefined {
  const id = text.trim();
  return id.length >= 6 && id.length <= 255 && /\d/.test(id) && /^[\x20-\x7e]+$/.test(id) ? id : undefined;
}
