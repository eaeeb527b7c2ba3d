// The commands `svc backup` and `svc restore`: the database of the service in one file, and back.
import { resolve } from "node:path";
import type { Command } from "commander";
import type { Manifest, Progress, Signature } from "../backup.ts";
import type { Config } from "../config.ts";
import { CliError } from "./client.ts";
import { environmentHelp, explained, log } from "./on-database.ts";
import { print, say } from "./print.ts";

const reportMs = 2_000;

export function addBackup(program: Command): void {
  program
    .command("backup")
    .description(
      "Writes the database of this machine's service into a new file, while the service runs or not.",
    )
    .argument("<file>", "a file that does not exist, such as onlooker.backup", existing)
    .option("--without-key", "leave secret.key out, which encrypts the secrets that users stored")
    .addHelpText("after", `\n${environmentHelp}\n\n${codesHelp}`)
    .action((file: string, { withoutKey }: { withoutKey?: true }) =>
      explained(() => backup(file, !withoutKey)),
    );
  program
    .command("restore")
    .description("Restores a backup into an empty database or data folder. No service may run on it.")
    .argument("<file>", "the file of a backup", existing)
    .option("--check", "only read the whole file, and say whether it is undamaged")
    .addHelpText("after", `\n${environmentHelp}\n\n${codesHelp}`)
    .action((file: string, { check }: { check?: true }) =>
      explained(() => (check ? checkFile(file) : restoreFile(file))),
    );
}

const codesHelp = "Exit codes: 0 done, 2 invalid usage or it failed; nothing is left half done.";

const existing = (path: string) => resolve(path);

/** The rest is loaded when it is needed: other commands only call the API. */
const load = async () => ({
  ...(await import("../backup.ts")),
  ...(await import("../command/database.ts")),
  ...(await import("../config.ts")),
  ...(await import("../config/package.ts")),
  ...(await import("../store/secrets/master-key.ts")),
});

async function backup(file: string, withKey: boolean): Promise<void> {
  const { readConfig, requireDatabase, withDatabase, findMasterKey, backUp, readVersion } = await load();
  const config = readConfig(process.env);
  requireDatabase(config);
  const key = await findMasterKey(config);
  const hasKey = withKey && config.secretKey === undefined && key !== undefined;
  const { takenAt, rows, bytes, others, isOtherKey } = await withDatabase(config, log, url =>
    backUp({
      ...{ url, file, version: readVersion(), key, withKey: hasKey, mayBeOther: !withKey },
      onProgress: reporter("Backing up"),
    }),
  );
  if (others.length > 0) say(`Left out, because these tables are not Onlooker's: ${others.join(", ")}.`);
  print(
    `Backed up ${rows} rows, as of ${takenAt.toISOString()}, to ${file} (${megabytes(bytes)}), and checked them.`,
  );
  if (isOtherKey) {
    const place = config.secretKey === undefined ? `secret.key in ${config.dataDir}` : "SVC_SECRET_KEY";
    say(
      `The secrets in it were last encrypted with another key than ${place}: keep a copy of the service's key.`,
    );
  } else if (hasKey) say("The file contains secret.key: keep it as safe as a password.");
  else if (key !== undefined)
    say("The file does not contain the key of stored secrets: keep a copy of the key, too.");
  else
    say(
      `No secret.key was found in ${config.dataDir}: stored secrets can only be read with the service's key.`,
    );
}

async function checkFile(file: string): Promise<void> {
  const { readConfig, findMasterKey, checkBackup } = await load();
  const ownKey = await findMasterKey(readConfig(process.env));
  const { manifest, rows, hasKey, signature } = await checkBackup(file, ownKey);
  print(
    `Undamaged: ${rows} rows, as of ${manifest.takenAt}, of Onlooker ${manifest.onlooker}, ${hasKey ? "with" : "without"} secret.key.`,
  );
  print(signatureTexts[signature]);
}

const signatureTexts: Record<Signature, string> = {
  valid: "Signed: it is as it was written with the key of this machine.",
  none: "Not signed: it is undamaged, but nothing shows who wrote it.",
  unchecked: "Signature not checked, without a key here: it is undamaged, but nothing shows who wrote it.",
  other:
    "Signature not checked, made with another key than that here: it is undamaged, but nothing shows who wrote it.",
};

async function restoreFile(file: string): Promise<void> {
  const { readConfig, withDatabase, findMasterKey, placeMasterKey, checkBackup, restore, keySum } =
    await load();
  const config = readConfig(process.env);
  const ownKey = await findMasterKey(config);
  const { manifest, signature } = await checkBackup(file, ownKey);
  if (ownKey !== undefined) requireSameKey(config, manifest, keySum(ownKey));
  let placed = false;
  const { rows } = await withDatabase(config, log, url =>
    restore({
      ...{ url, file, ownKey },
      onProgress: reporter("Restoring"),
      async keepKey(key) {
        placed = true;
        if (ownKey === undefined)
          requireSameKey(config, manifest, keySum(await placeMasterKey(config.dataDir, key)));
      },
    }),
  );
  print(`Restored ${rows} rows, as of ${manifest.takenAt}, of Onlooker ${manifest.onlooker}.`);
  say(signatureTexts[signature]);
  if (!placed && ownKey === undefined) {
    say(
      "The backup does not contain the key of stored secrets: set SVC_SECRET_KEY, or put secret.key back, before the start.",
    );
  }
  say("What was erased after the backup is back: repeat those erasures.");
}

function requireSameKey({ secretKey, dataDir }: Config, manifest: Manifest, sum: string): void {
  if (manifest.keySum === null || manifest.keySum === sum) return;
  const place = secretKey === undefined ? `secret.key in ${dataDir}` : "SVC_SECRET_KEY";
  throw new CliError(
    `The secrets in this backup are encrypted with another key than ${place}. Use that key, or move this one away.`,
  );
}

/** Reports at most every two seconds. After Ctrl-C or SIGTERM it throws, so that everything is undone. */
function reporter(verb: string): (progress: Progress) => void {
  let reportedAt = performance.now();
  let signal: string | undefined;
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      signal = name;
    });
  }
  return ({ table, rows, rowCount, bytes }) => {
    if (signal !== undefined) throw new CliError(`Ended by ${signal}; nothing was changed.`);
    if (performance.now() - reportedAt < reportMs) return;
    reportedAt = performance.now();
    const of = rowCount > rows ? ` of about ${rowCount}` : "";
    say(`${verb} ${table}: ${rows}${of} rows, ${megabytes(bytes)}.`);
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
