// What ingestion costs and how long it takes, beside a baseline server that stores nothing, in turns: with OpenTelemetry's
// exporter and with prepared bodies, at full load and at half of it.
import type { DriverInput } from "./driver.ts";
import { median, print, row } from "./figures.ts";
import { peakMb } from "./processes.ts";
import { makeProject } from "./project.ts";
import { spansPerTrace } from "./shapes.ts";
import type { Figures, Stand } from "./stand.ts";
import type { Format } from "./traces.ts";

const warmUpSeconds = 2;

/** Alternates between baseline and service, so that changes in the machine's speed affect both. */
export async function ingestion(stand: Stand, { seconds, rounds }: { seconds: number; rounds: number }) {
  const baseline = stand.startProgram("./baseline.ts", []);
  const { url: baselineUrl } = JSON.parse(await baseline.nextLine()) as { url: string };
  const { service, url } = await stand.startService({ SVC_ROLES: "http" });
  const { apiKey: key } = await makeProject(stand.databaseUrl, { serviceName: "bench", tests: 0 });
  const [toService, toBaseline] = [`${url}/public/traces`, baselineUrl];

  print("Ingestion: 12 spans, 27 KB a trace, 32 connections, every trace new");
  const heads = ["traces/s", "spans/s", "MB/s", "p50 ms", "p99 ms", "CPU µs a trace: service", "postgres"];
  print(row(["", ...heads, "driver"]));
  for (const driver of ["exporter", "prepared"] as const) {
    for (const format of ["json", "protobuf"] as Format[]) {
      const input = { key, format, serviceName: "bench", connections: 32, seconds, warmUpSeconds };
      const send = async (url: string, more: Partial<DriverInput> = {}) => {
        if (url === toService) await stand.database.query("checkpoint");
        return stand.drive({ ...input, url, ...more }, url === toService ? service : baseline, driver);
      };
      const baselines: Figures[] = [];
      const services: Figures[] = [];
      const halves: Figures[] = [];
      // Warm-up.
      await send(toService);
      for (let round = 0; round < rounds; round++) {
        baselines.push(await send(toBaseline));
        const full = await send(toService);
        services.push(full);
        // The exporter sends when it is asked to, so only prepared bodies come at a steady rate.
        const perSecond = full.traces / full.seconds / 2;
        if (driver === "prepared") halves.push(await send(toService, { perSecond }));
      }
      const ratios = services.map((figures, round) => figures.traces / baselines[round]!.traces);
      print(figuresRow(`baseline, ${format}, ${driver}`, middle(baselines)));
      print(figuresRow(`service, ${format}, ${driver}`, middle(services)));
      if (halves.length > 0) print(figuresRow("  at half of its rate", middle(halves)));
      print(
        `ratio to the baseline: ${ratios.map(ratio => ratio.toFixed(2)).join(" ")}, median ${median(ratios).toFixed(2)}`,
      );
    }
  }
  print(`peak RSS of the service: ${peakMb(service.pid).toFixed(0)} MB`);
  await service.stop();
  await baseline.stop();
}

function figuresRow(name: string, figures: Figures): string {
  const { traces, bytes, seconds, p50Ms, p99Ms } = figures;
  // CPU time includes the warm-up.
  const share = seconds / (seconds + warmUpSeconds);
  const each = (cpu: number) => (((cpu * share) / traces) * 1e6).toFixed(0);
  return row([
    name,
    (traces / seconds).toFixed(0),
    ((traces * spansPerTrace) / seconds).toFixed(0),
    (bytes / seconds / 1e6).toFixed(1),
    p50Ms.toFixed(1),
    p99Ms.toFixed(1),
    each(figures.service),
    each(figures.postgres),
    each(figures.driver),
  ]);
}

/** The round with the median number of traces. */
function middle(figures: Figures[]): Figures {
  return figures.toSorted((a, b) => a.traces - b.traces)[Math.floor(figures.length / 2)]!;
}
