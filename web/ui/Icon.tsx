// The icons: strokes on a 16 × 16 grid. Use them next to text or on a button with an accessible name.
const paths = {
  check: "M3 8.5 6.5 12 13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  skip: "M3 8h10",
  missing:
    "M6 6a2 2 0 1 1 2.7 1.9c-.5.2-.7.5-.7 1.1M8 11.6v.1M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8Z",
  warning: "M8 2 1.8 13.2h12.4L8 2ZM8 6.5v3M8 11.4v.1",
  info: "M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8ZM8 7.4v3.8M8 4.9V5",
  clock: "M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8ZM8 4.6V8l2.4 1.6",
  spin: "M8 1.8a6.2 6.2 0 1 1-6.2 6.2",
  none: "M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8Z",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  key: "M5.2 8a2.6 2.6 0 1 1 0 5.2 2.6 2.6 0 0 1 0-5.2ZM7.1 8.7 13.2 2.8M10.6 5.4l2 2M8.9 7.1l1.2 1.2",
  agent: "M3 6h10v7H3zM8 6V3M8 2.6v.1M6 9v1M10 9v1M1.5 8.5v2M14.5 8.5v2",
  project: "M2 4.5h4l1.5 2H14v6.5H2z",
  gear: "M8 5.6a2.4 2.4 0 1 1 0 4.8 2.4 2.4 0 0 1 0-4.8ZM8 1.6v2M8 12.4v2M1.6 8h2M12.4 8h2M3.5 3.5l1.4 1.4M11.1 11.1l1.4 1.4M12.5 3.5l-1.4 1.4M4.9 11.1l-1.4 1.4",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9ZM10.3 10.3 14 14",
  chevron: "M4 6.5 8 10l4-3.5",
  up: "M4 9.5 8 6l4 3.5",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  plus: "M8 3v10M3 8h10",
  trash: "M2.5 4.5h11M6 4.5V2.5h4v2M4 4.5l.6 9h6.8l.6-9M6.8 7v4M9.2 7v4",
  person: "M8 2.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6ZM2.8 14c.4-2.8 2.4-4.2 5.2-4.2s4.8 1.4 5.2 4.2",
  sun: "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6ZM8 1v1.4M8 13.6V15M1 8h1.4M13.6 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  moon: "M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3Z",
  screen: "M2 3h12v8H2zM6 14h4M8 11v3",
  help: "M6 6a2 2 0 1 1 2.7 1.9c-.5.2-.7.5-.7 1.1M8 11.6v.1",
  log: "M3 2.5h10v11H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h3",
  more: "M3 8v.1M8 8v.1M13 8v.1",
  tool: "M9.6 6.4a3.4 3.4 0 0 1 4-4.2l-2 2 .4 1.6 1.6.4 1.9-1.9a3.4 3.4 0 0 1-4.3 4L5.6 13.9a1.5 1.5 0 0 1-2.1-2.1z",
  model: "M8 1.8 9.6 6.4 14.2 8 9.6 9.6 8 14.2 6.4 9.6 1.8 8l4.6-1.6z",
  unfold: "M4.5 6 8 2.5 11.5 6M4.5 10 8 13.5l3.5-3.5",
  fold: "M4.5 2.5 8 6l3.5-3.5M4.5 13.5 8 10l3.5 3.5",
  zoomIn: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9ZM10.3 10.3 14 14M5 7h4M7 5v4",
  zoomOut: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9ZM10.3 10.3 14 14M5 7h4",
  fit: "M2 3v10M14 3v10M4.5 8h7M6.5 6l-2 2 2 2M9.5 6l2 2-2 2",
  download: "M8 2.5v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11",
  live: "M8 6.6a1.4 1.4 0 1 1 0 2.8 1.4 1.4 0 0 1 0-2.8ZM4.8 11.2a4.5 4.5 0 0 1 0-6.4M11.2 4.8a4.5 4.5 0 0 1 0 6.4",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3v10l8-5z",
  filter: "M2 4h12M4.5 8h7M7 12h2",
  columns: "M2 3h12v10H2zM6 3v10M10 3v10",
  bookmark: "M4.5 2.5h7v11L8 10.8l-3.5 2.7z",
  top: "M8 13V3M4 7l4-4 4 4",
  assert: "M5 2.8H3v11h10v-11h-2M5.5 1.5h5v2.6h-5zM5.5 9l1.8 1.8 3.4-3.6",
  mail: "M2 3.5h12v9H2zM2 4l6 5 6-5",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
