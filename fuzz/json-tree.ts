// JSON as a tree of texts, which can hold what JSON.parse loses: repeated keys, escapes, and numbers as written.

export type Leaf = { kind: "leaf"; text: string };
export type List = { kind: "list"; items: Tree[] } & Known;
/** Keys are texts with their quotes. */
export type Fields = { kind: "object"; entries: [key: string, value: Tree][] } & Known;
export type Tree = Leaf | List | Fields;

/** Computed once. Trees are never changed, so that mutants of a seed share what they have in common. */
type Known = { text?: string; size?: number };

export const leaf = (text: string): Leaf => ({ kind: "leaf", text });
export const list = (items: Tree[]): List => ({ kind: "list", items });
export const object = (entries: [string, Tree][]): Fields => ({ kind: "object", entries });

export function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return list(value.map(treeOf));
  if (typeof value !== "object" || value === null) return leaf(JSON.stringify(value));
  return object(Object.entries(value).map(([key, content]) => [JSON.stringify(key), treeOf(content)]));
}

export function textOf(tree: Tree): string {
  if (tree.text !== undefined) return tree.text;
  const parts =
    tree.kind === "list"
      ? tree.items.map(textOf)
      : (tree as Fields).entries.map(([key, value]) => `${key}:${textOf(value)}`);
  tree.text = tree.kind === "list" ? `[${parts.join()}]` : `{${parts.join()}}`;
  return tree.text;
}

/** How many values it has, itself included. */
export function sizeOf(tree: Tree): number {
  if (tree.kind === "leaf") return 1;
  tree.size ??= childrenOf(tree).reduce((sum, child) => sum + sizeOf(child), 1);
  return tree.size;
}

export function childrenOf(tree: Tree): Tree[] {
  if (tree.kind === "leaf") return [];
  return tree.kind === "list" ? tree.items : tree.entries.map(([, value]) => value);
}

/** The value at this place, counted from 0 in the order of the text. */
export function valueAt(tree: Tree, place: number): Tree {
  let left = place;
  let at = tree;
  while (left > 0) {
    left--;
    for (const child of childrenOf(at)) {
      const size = sizeOf(child);
      if (left < size) {
        at = child;
        break;
      }
      left -= size;
    }
  }
  return at;
}

/** The tree with the value at this place changed. */
export function changedAt(tree: Tree, place: number, change: (value: Tree) => Tree): Tree {
  if (place === 0) return change(tree);
  let left = place - 1;
  const children = childrenOf(tree);
  const index = children.findIndex(child => {
    const size = sizeOf(child);
    if (left < size) return true;
    left -= size;
    return false;
  });
  return withChild(tree as List | Fields, index, changedAt(children[index]!, left, change));
}

export function withChild(tree: List | Fields, index: number, child: Tree): Tree {
  if (tree.kind === "list") return list(tree.items.with(index, child));
  return object(tree.entries.with(index, [tree.entries[index]![0], child]));
}
