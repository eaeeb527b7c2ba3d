// What a benchmark is: parts that answer with named figures, by the service and the modules of the checkout that they are in.

/** By name, with its unit; of one turn. */
export type Figures = Record<string, number>;

export type Given = {
  /** What follows the benchmark's name. */
  args: string[];
  /** About how long a load lasts. */
  seconds: number;
  /** Whether another commit takes turns with this one, so that less should do. */
  isCompared: boolean;
  /** For what must end with the benchmark; the last first. */
  onClose(work: () => unknown): void;
};

/** The parts of a benchmark, each of which two sides take in turns: the shorter, the less their ratio depends on others' load. */
export type Parts = (() => Promise<Figures>)[];

export type Benchmark = {
  /** One line. */
  about: string;
  /** How often each part is measured by default. */
  rounds: number;
  /** Whether a round comes first that does not count. */
  isWarmedUp?: boolean;
  /** By default 2. */
  seconds?: number;
  /** Prepares what all parts share. Loaded where it runs, since another commit may lack what it needs. */
  open(given: Given): Promise<Parts>;
};

export const benchmarks: Record<string, Benchmark> = {
  ingestion: {
    about: "CPU, latency and throughput of traces of 12 spans, beside a server that stores nothing",
    ...{ rounds: 3, isWarmedUp: true },
    open: async given => (await import("./ingestion.ts")).open(given),
  },
  evaluation: {
    about: "CPU of evaluating 20 deterministic tests a trace, beside that of its ingestion",
    ...{ rounds: 3, isWarmedUp: true },
    open: async given => (await import("./evaluation.ts")).open(given),
  },
  lists: {
    about: "pages of an agent's traces and conversations among BENCH_TRACES (1,000,000), by filter",
    rounds: 3,
    open: async given => (await import("./lists.ts")).open(given),
  },
  pages: {
    about: "paint and input latency of the dashboard's screens among BENCH_TRACES, in a slowed Chromium",
    rounds: 3,
    open: async given => (await import("./pages.ts")).open(given),
  },
  judge: {
    about:
      "what evaluation adds to calls of a judge; with --model NAME, how well a model judges labeled sets",
    rounds: 3,
    open: async given => (await import("./judge/parts.ts")).open(given),
  },
  tokens: {
    about: "tokens of o200k_base of the judge's prompts and answers, and how long their common beginning is",
    rounds: 1,
    open: async () => (await import("./judge/tokens.ts")).open(),
  },
  redaction: {
    about: "recall, precision and speed of the built-in rules; with hostile, texts made to be slow",
    rounds: 1,
    open: async given => (await import("./redaction/parts.ts")).open(given),
  },
  privacy: {
    about: "what redaction and stored content add to ingestion",
    ...{ rounds: 3, isWarmedUp: true },
    open: async given => (await import("./privacy.ts")).open(given),
  },
  conventions: {
    about: "what tracing conventions add to ingestion, by the attributes that traces have",
    ...{ rounds: 3, isWarmedUp: true },
    open: async given => (await import("./conventions.ts")).open(given),
  },
  hostile: {
    about: "bodies of 30 MB that are slow to redact, and what others notice of them",
    rounds: 1,
    open: async given => (await import("./hostile-bodies.ts")).open(given),
  },
  fairness: {
    about:
      'what a key at ten times its share, "keys", and costly requests, "attacks" [WORD], cost the others',
    ...{ rounds: 3, isWarmedUp: true, seconds: 5 },
    open: async given => (await import("./fairness.ts")).open(given),
  },
  processes: {
    about: "what several HTTP processes cost, and what PostgreSQL waits for",
    ...{ rounds: 3, isWarmedUp: true },
    open: async given => (await import("./http-processes.ts")).open(given),
  },
  overload: {
    about:
      'hostile and too many requests, beside a healthy agent; "slow": with a slow PostgreSQL; WORD: some of them',
    ...{ rounds: 1, seconds: 10 },
    open: async given => (await import("./overload-loads.ts")).open(given),
  },
  growth: {
    about: "what costs more among ten million traces than among ten thousand; --traces N, --ranges 0,9",
    rounds: 3,
    open: async given => (await import("./growth.ts")).open(given),
  },
};
