// Says that a parameter of the URL has none of its known values.

/** `label`: that of the parameter on the page. */
export function unknownValueText(label: string, value: string): string {
  return `${label}: “${value}” is not a known value.`;
}
