// Builds the container image with buildah, without a container engine or a registry of images: on a base made by debootstrap.
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeScratch } from "../../support/postgres-server.ts";
import { cached, lastingFolder } from "./cache.ts";
import { type Output, requireCommand } from "./command.ts";
import { debianWithNode } from "./debian.ts";
import { npmCache } from "./machine.ts";
import { caPath, npmSettings } from "./settings.ts";

const checkout = join(import.meta.dirname, "../../..");

export type ImageConfig = {
  Cmd: string[];
  Env: string[];
  User: string;
  WorkingDir: string;
  StopSignal: string;
  Volumes: Record<string, unknown>;
  ExposedPorts: Record<string, unknown>;
  Healthcheck: { Test: string[] };
};

export type Image = {
  /** Its files. */
  root: string;
  config: ImageConfig;
  buildSeconds: number;
  close(): Promise<void>;
};

/** A stand-in for the official image of this name: Debian slim with Node, npm and the user node (uid 1000). */
async function baseImage(): Promise<string> {
  const bare = await debianWithNode({ node: "26.10.0", npm: "11.21.2", packages: ["libatomic1"] });
  return cached("image-base", { version: 1, bare }, async folder => {
    await requireCommand("cp", ["-a", "--reflink=auto", `${bare}/.`, folder]);
    await requireCommand("chroot", [folder, "groupmod", "--new-name", "node", "dev"]);
    const rename = ["usermod", "--login", "node", "--home", "/home/node", "--move-home", "dev"];
    await requireCommand("chroot", [folder, ...rename]);
  });
}

/** Builds the Dockerfile of this checkout as it is now. */
export async function buildImage(): Promise<Image> {
  const scratch = makeScratch();
  const policy = join(scratch, "policy.json");
  writeFileSync(policy, JSON.stringify({ default: [{ type: "insecureAcceptAnything" }] }));
  const storage = ["--root", join(scratch, "storage"), "--runroot", join(scratch, "run")];
  const buildah = (command: string, ...args: string[]): Promise<Output> =>
    requireCommand("buildah", [...storage, command, ...args], { cwd: checkout });
  const line = async (command: string, ...args: string[]) => (await buildah(command, ...args)).stdout.trim();

  const base = await line("from", "scratch");
  const baseRoot = await line("mount", base);
  await requireCommand("cp", ["-a", "--reflink=auto", `${await baseImage()}/.`, baseRoot]);
  await writeNpmSettings(baseRoot);
  await buildah("umount", base);
  await buildah("commit", "--quiet", "--rm", "--signature-policy", policy, base, tagOfDockerfile);

  const since = performance.now();
  const shared = `${lastingFolder("npm")}:${npmCache}`;
  const options = [
    "--isolation",
    "chroot",
    "--pull-never",
    "--format",
    "docker",
    "--signature-policy",
    policy,
  ];
  await buildah("build", ...options, "--volume", shared, "--tag", "onlooker", ".");
  const buildSeconds = (performance.now() - since) / 1000;

  const container = await line("from", "--pull-never", "--signature-policy", policy, "localhost/onlooker");
  const root = await line("mount", container);
  const inspected = await line(
    "inspect",
    "--type",
    "image",
    "--format",
    "{{json .Docker.config}}",
    "localhost/onlooker",
  );
  return {
    root,
    config: JSON.parse(inspected) as ImageConfig,
    buildSeconds,
    async close() {
      await buildah("umount", container);
      await buildah("rm", "--all");
      await buildah("rmi", "--all", "--force");
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

/** The `FROM` of the Dockerfile, as buildah finds it locally. */
const tagOfDockerfile = "docker.io/library/node:26-trixie-slim";

async function writeNpmSettings(root: string): Promise<void> {
  const { env, certificates } = await npmSettings();
  const npmrc = join(root, "usr/local/etc/npmrc");
  mkdirSync(dirname(npmrc), { recursive: true });
  writeFileSync(npmrc, `cache=${npmCache}\n`);
  for (const [name, value] of Object.entries(env)) {
    const key = /^npm_config_(.*)/.exec(name)?.[1];
    if (key !== undefined) appendFileSync(npmrc, `${key.replaceAll("_", "-")}=${value}\n`);
  }
  if (certificates !== undefined) writeFileSync(join(root, caPath), certificates);
}
