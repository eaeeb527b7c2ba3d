// Medians and table rows of the benchmarks' output.

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

export function row(cells: string[]): string {
  return cells
    .map((cell, index) => (index === 0 ? cell.padEnd(26) : cell.padStart(Math.max(9, cell.length))))
    .join(" ");
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
