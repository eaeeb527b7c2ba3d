// Changes JSON trees at random places: keys, types, numbers, texts, nesting, ids, repetition, and the text itself.
import {
  changedAt,
  childrenOf,
  type Fields,
  type List,
  leaf,
  list,
  object,
  sizeOf,
  type Tree,
  textOf,
  valueAt,
  withChild,
} from "./json-tree.ts";
import { attributeKeys, keyText, numberText, scalarText, stringText } from "./json-values.ts";
import type { Random } from "./random.ts";

/** A mutant of `seed` as bytes. `others`: what it may get values from. */
export function mutatedJson(seed: Tree, others: readonly Tree[], random: Random): Buffer {
  let tree = random.chance(0.8) ? trimmed(seed, random) : seed;
  for (let left = 1 + random.size(4); left > 0; left--) tree = mutated(tree, others, random);
  const text = textOf(tree);
  const bytes = Buffer.from(random.chance(0.02) ? spaced(text, random) : text);
  return random.chance(0.06) ? mutatedBytes(bytes, random) : bytes;
}

/** Fewer spans and attributes: smaller bodies leave time for more of them. */
function trimmed(tree: Tree, random: Random): Tree {
  if (tree.kind === "leaf") return tree;
  if (tree.kind === "object")
    return object(tree.entries.map(([key, value]) => [key, trimmed(value, random)]));
  const most = 1 + random.size(8);
  if (tree.items.length <= most) return list(tree.items.map(item => trimmed(item, random)));
  const first = random.below(tree.items.length - most + 1);
  return list(tree.items.slice(first, first + most).map(item => trimmed(item, random)));
}

function mutated(tree: Tree, others: readonly Tree[], random: Random): Tree {
  const place = random.below(sizeOf(tree));
  return changedAt(tree, place, value => {
    if (value.kind !== "leaf" && random.chance(0.75)) return changedContainer(value, tree, others, random);
    return changedValue(value, tree, others, random);
  });
}

function changedValue(value: Tree, whole: Tree, others: readonly Tree[], random: Random): Tree {
  const choice = random.below(20);
  if (choice < 6) return leaf(scalarText(random));
  if (choice < 8) return leaf(stringText(random));
  if (choice < 10) return leaf(numberText(random));
  // Another value of the same body: repeated ids, parents in a cycle, a text in place of an object.
  if (choice < 14) return valueAt(whole, random.below(sizeOf(whole)));
  if (choice < 17) {
    const other = random.pick(others);
    return valueAt(other, random.below(sizeOf(other)));
  }
  if (choice < 18) return leaf(JSON.stringify(textOf(value)));
  if (choice < 19) return nested(value, random);
  return random.chance(0.5) ? list([value]) : object([[keyText(random), value]]);
}

/** The limit is 200 levels; a few go far beyond what a recursive reader survives. */
function nested(value: Tree, random: Random): Tree {
  const isFar = random.chance(0.02);
  const depth = isFar ? random.size(200_000) : random.pick([1, 2, 5, 20, 50, 100, 180, 190, 195, 200]);
  const [open, close] = random.pick([
    ["[", "]"],
    ['{"a":', "}"],
    ['{"arrayValue":{"values":[', "]}}"],
    ['{"kvlistValue":{"values":[{"key":"k","value":', "}]}}"],
    ["[[],", "]"],
  ] as const);
  return leaf(`${open.repeat(depth)}${textOf(value)}${close.repeat(depth)}`);
}

function changedContainer(tree: List | Fields, whole: Tree, others: readonly Tree[], random: Random): Tree {
  const children = childrenOf(tree);
  if (children.length === 0) return inserted(tree, random);
  const at = random.below(children.length);
  const choice = random.below(16);
  if (choice < 2) return without(tree, at);
  if (choice < 4) return repeated(tree, at, random);
  if (choice < 6) return inserted(tree, random);
  if (choice < 8) return tree.kind === "object" ? renamed(tree, at, random) : shuffled(tree, random);
  if (choice < 10) return withIdOf(tree, children, random);
  if (choice < 12) return withChild(tree, at, children[random.below(children.length)]!);
  return withChild(tree, at, changedValue(children[at]!, whole, others, random));
}

function without(tree: List | Fields, at: number): Tree {
  return tree.kind === "list" ? list(tree.items.toSpliced(at, 1)) : object(tree.entries.toSpliced(at, 1));
}

/** Once more, or many times: spans, keys, resources. */
function repeated(tree: List | Fields, at: number, random: Random): Tree {
  const times = random.chance(0.02) ? random.size(3_000) : 1;
  if (tree.kind === "object") return object(tree.entries.toSpliced(at, 0, tree.entries[at]!));
  return list(tree.items.toSpliced(at, 0, ...Array.from({ length: times }, () => tree.items[at]!)));
}

/** A field or an item; in a list of attributes often an attribute that is read. */
function inserted(tree: List | Fields, random: Random): Tree {
  const key = random.chance(0.5) ? JSON.stringify(random.pick(attributeKeys)) : keyText(random);
  const value = leaf(scalarText(random));
  if (tree.kind === "object") return object([...tree.entries, [key, value]]);
  if (!random.chance(0.7)) return list([...tree.items, value]);
  const kind = random.pick(['"stringValue"', '"stringValue"', '"intValue"', '"doubleValue"', '"boolValue"']);
  return list([
    ...tree.items,
    object([
      ['"key"', leaf(key)],
      ['"value"', object([[kind, value]])],
    ]),
  ]);
}

function renamed(tree: Fields, at: number, random: Random): Tree {
  const key = random.chance(0.3) ? tree.entries[random.below(tree.entries.length)]![0] : keyText(random);
  return object(tree.entries.with(at, [key, tree.entries[at]![1]]));
}

function shuffled(tree: List, random: Random): Tree {
  const turned = random.below(tree.items.length);
  return list([...tree.items.slice(turned), ...tree.items.slice(0, turned).reverse()]);
}

const idKey = /^"(span_id|parent_span_id|spanId|parentSpanId|traceId)"$/;

/** Gives a span another span's ids: a parent of its own, cycles, ids sent twice. */
function withIdOf(tree: List | Fields, children: Tree[], random: Random): Tree {
  const ids = children.flatMap(child =>
    child.kind === "object" ? child.entries.filter(([key]) => idKey.test(key)).map(([, value]) => value) : [],
  );
  if (ids.length === 0) return shuffledFields(tree, random);
  const at = random.below(children.length);
  const span = children[at]!;
  if (span.kind !== "object") return tree;
  const entries = span.entries.map(([key, value]): [string, Tree] =>
    idKey.test(key) && random.chance(0.5) ? [key, random.pick(ids)] : [key, value],
  );
  return withChild(tree, at, object(entries));
}

function shuffledFields(tree: List | Fields, random: Random): Tree {
  if (tree.kind === "list") return shuffled(tree, random);
  return object(tree.entries.toSorted(() => random.below(3) - 1));
}

/** Whitespace between tokens, or the forms of a text that are no UTF-8. */
function spaced(text: string, random: Random): string {
  const space = random.pick([" ", "\n\t", "\r\n", "\u00a0", "\ufeff", "/**/", ","]);
  const places = [0, text.length, 1, random.below(text.length + 1)];
  const at = random.pick(places);
  return text.slice(0, at) + space.repeat(random.size(1_000)) + text.slice(at);
}

const oddBytes = [0, 0x22, 0x2c, 0x5b, 0x5c, 0x7b, 0x7d, 0x7f, 0x80, 0xc0, 0xed, 0xf5, 0xff];

/** Bytes changed, inserted, removed, cut off or doubled, whatever they mean. */
export function mutatedBytes(bytes: Buffer, random: Random): Buffer {
  let left = bytes;
  for (let count = random.size(8); count > 0; count--) {
    const at = random.below(left.length + 1);
    const [head, tail] = [left.subarray(0, at), left.subarray(at)];
    const odd = random.chance(0.5) ? Buffer.from([random.pick(oddBytes)]) : random.bytes(1);
    const choice = random.below(10);
    if (choice < 4) left = Buffer.concat([head, odd, tail.subarray(1)]);
    else if (choice < 6) left = Buffer.concat([head, odd, tail]);
    else if (choice < 8) left = Buffer.concat([head, tail.subarray(random.size(64))]);
    else if (choice < 9) left = head;
    else left = Buffer.concat([head, tail.subarray(0, random.size(1_000)), tail]);
  }
  return left;
}
