// The room that the labels of a chart's axes need, by their characters: text is measured only once it is drawn.

/** Pixels; of 12 px, digits are 7 wide and most letters less. */
const characterWidth = 6.8;
const gap = 8;
const gutterMin = 52;

/** The width left of the value axis: the widest label, such as "16 min 40 s", and its distance. */
export function leftGutter(labels: readonly string[]): number {
  return Math.max(gutterMin, Math.ceil(Math.max(0, ...labels.map(textWidth)) + gap + 2));
}

/** The middle of a label under the axis: at its tick, or as near to it as the chart's width allows. */
export function labelMiddle(tick: number, label: string, width: number): number {
  const half = textWidth(label) / 2;
  return Math.max(half, Math.min(tick, width - half));
}

function textWidth(text: string): number {
  return text.length * characterWidth;
}
