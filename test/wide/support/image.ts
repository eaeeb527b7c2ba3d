// Builds the container image with buildah, without a container engine or a registry of images: on a base made by debootstrap.
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeScratch } from "../../support/scratch.ts";
import { cached, lastingFolder } from "./cache.ts";
import { requireCommand, runCommand } from "./command.ts";
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
  const bare = await debianWithNode({ node: "24.21.0", npm: "11.21.2" });
  return cached("image-base", { version: 1, bare }, async folder => {
    await requireCommand("cp", ["-a", "--reflink=auto", `${bare}/.`, folder]);
    await requireCommand("chroot", [folder, "groupmod", "--new-name", "node", "dev"]);
    const rename = ["usermod", "--login", "node", "--home", "/home/node", "--move-home", "dev"];
    await requireCommand("chroot", [folder, ...rename]);
  });
}

/** In place of the Dockerfile's own base, as buildah finds it locally. */
const tagOfBase = "docker.io/library/node:24-trixie-slim";
const tag = "localhost/onlooker";

/** Builds the Dockerfile of this checkout as it is now. */
export async function buildImage(): Promise<Image> {
  const scratch = makeScratch();
  const storage = ["--root", join(scratch, "storage"), "--runroot", join(scratch, "run")];
  async function buildah(command: string, ...args: string[]): Promise<string> {
    const { stdout } = await requireCommand("buildah", [...storage, command, ...args], { cwd: checkout });
    return stdout.trim();
  }
  async function close(): Promise<void> {
    await buildah("umount", "--all");
    await buildah("rm", "--all");
    await buildah("rmi", "--all", "--force");
    await runCommand("umount", [join(scratch, "storage/overlay")]);
    rmSync(scratch, { recursive: true, force: true });
  }
  try {
    const policy = join(scratch, "policy.json");
    writeFileSync(policy, JSON.stringify({ default: [{ type: "insecureAcceptAnything" }] }));
    const trust = ["--signature-policy", policy];

    const base = await buildah("from", "scratch");
    const baseRoot = await buildah("mount", base);
    await requireCommand("cp", ["-a", "--reflink=auto", `${await baseImage()}/.`, baseRoot]);
    await writeNpmSettings(baseRoot);
    await buildah("umount", base);
    await buildah("commit", "--quiet", "--rm", ...trust, base, tagOfBase);

    const since = performance.now();
    const options = ["--isolation", "chroot", "--pull-never", "--format", "docker", ...trust];
    const shared = ["--volume", `${lastingFolder("npm")}:${npmCache}`];
    await buildah(
      "build",
      ...options,
      ...shared,
      "--build-arg",
      `NODE_IMAGE=${tagOfBase}`,
      "--tag",
      tag,
      ".",
    );
    const buildSeconds = (performance.now() - since) / 1000;

    const inspected = JSON.parse(await buildah("inspect", "--type", "image", tag));
    const root = await buildah("mount", await buildah("from", "--pull-never", ...trust, tag));
    return { root, config: inspected.Docker.config as ImageConfig, buildSeconds, close };
  } catch (error) {
    await close();
    throw error;
  }
}

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
