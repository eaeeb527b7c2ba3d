// The command `svc scale init`: distributes the database of the service over the nodes of a Citus cluster.
import { type Command, InvalidArgumentError, Option } from "commander";
import { CliError } from "./client.ts";
import { explained, log } from "./on-database.ts";
import { print, say } from "./print.ts";

const shardsDefault = 16;
const shardsMax = 256;

export function addScale(program: Command): void {
  const scale = program.command("scale").description("Spreads the database over several machines.");
  scale
    .command("init")
    .description(
      "Distributes the database over the workers of a Citus cluster, all of it or nothing. No service may run.",
    )
    .addOption(
      new Option("--shards <number>", "groups of agents, so the most workers that it can be spread over")
        .argParser(readShards)
        .default(shardsDefault),
    )
    .addHelpText(
      "after",
      "\nDATABASE_URL names the coordinator, in whose pg_dist_node the workers are registered.\n\nExit codes: 0 done, 2 invalid usage or it failed; the database is then as it was before.",
    )
    .action(({ shards }: { shards: number }) => explained(() => init(shards)));
}

function readShards(text: string): number {
  const shards = Number(text);
  if (Number.isInteger(shards) && shards >= 2 && shards <= shardsMax) return shards;
  throw new InvalidArgumentError(`It must be a whole number from 2 to ${shardsMax}.`);
}

async function init(shards: number): Promise<void> {
  const { readConfig } = await import("../config.ts");
  const { prepareDatabase } = await import("../store/prepare.ts");
  const { checkWorkers } = await import("../store/cluster/nodes.ts");
  const { distribute, requireCluster } = await import("../store/cluster/distribute.ts");
  const { databaseUrl, databaseDirectUrl } = readConfig(process.env);
  const url = databaseDirectUrl ?? databaseUrl;
  if (url === undefined) {
    throw new CliError(
      "The embedded PostgreSQL cannot be distributed. Set DATABASE_URL to the coordinator of a Citus cluster; svc backup and svc restore move the data there.",
    );
  }
  await requireCluster(url);
  const addresses = { url, directUrl: url, pooled: false };
  const { distributed: isDistributed } = await prepareDatabase(addresses, log);
  if (isDistributed) throw new CliError("The database is distributed already.");
  await checkWorkers(addresses, log);
  const { reference, distributed } = await distribute(url, {
    shards,
    onProgress: ({ table, at, of }) => say(`Distributing ${table} (${at + 1} of ${of}).`),
  });
  print(
    `Distributed ${distributed.length} tables in ${shards} groups of agents, with ${reference.length} tables on every node. Start the services.`,
  );
}
