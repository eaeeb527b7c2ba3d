// Finds the names most similar to a name that was not found.

const nearMax = 3;
/** The share of character pairs that both names have. */
const likenessMin = 0.5;

/** Most similar first. A name that contains the wanted one, or is contained in it, is similar. */
export function nearNames(wanted: string, names: string[]): string[] {
  const target = bare(wanted);
  return names
    .filter(name => name !== wanted)
    .map(name => ({ name, likeness: likeness(target, bare(name)) }))
    .filter(({ likeness }) => likeness >= likenessMin)
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, nearMax)
    .map(({ name }) => name);
}

/** Without case and separators, which are mistaken most often. */
function bare(name: string): string {
  return name.toLowerCase().replace(/[\s_.:/-]/g, "");
}

function likeness(a: string, b: string): number {
  if (a === "" || b === "") return 0;
  if (a.includes(b) || b.includes(a)) return 1;
  const pairs = pairsOf(a);
  const others = pairsOf(b);
  let both = 0;
  for (const pair of pairs) if (others.delete(pair)) both += 1;
  return (2 * both) / (pairs.size + pairsOf(b).size);
}

function pairsOf(text: string): Set<string> {
  const characters = [...text];
  return new Set(characters.slice(1).map((character, at) => characters[at]! + character));
}
