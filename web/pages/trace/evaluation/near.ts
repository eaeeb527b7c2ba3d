// Names that were probably meant: those most like a name that was looked for in vain.

const nearMax = 3;
/** Of the pairs of neighbouring characters of both names, the share that both have. */
const likenessMin = 0.5;

/** The nearest first; names that hold the wanted one, or stand in it, are near. */
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

/** Case and separators are what is mistaken most. */
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
