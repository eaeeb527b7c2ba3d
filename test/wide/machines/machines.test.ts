// Tests that `npm start` and `npm test` need nothing but a Node and an npm: on bare Debian root file systems, as root and as an ordinary user.
import assert from "node:assert/strict";
import { test } from "node:test";
import { debian, debianWithNode } from "../support/debian.ts";
import { openMachine, type User } from "../support/machine.ts";
import { leftOut, machineNeeds } from "../support/needs.ts";
import { copyCheckout, sendFirstTrace, startOnlooker, stopOnlooker } from "../support/onlooker.ts";

type Bare = {
  name: string;
  image: () => Promise<string>;
  /** How the versions of Node and npm begin. */
  versions: [node: string, npm: string];
  user?: User;
  folder?: string;
};

const slim = (node: string, npm: string, packages: string[] = []) => ({
  image: () => debianWithNode({ node, npm, packages }),
  versions: [`v${node}`, npm] as [string, string],
});
const node24 = slim("24.21.0", "11.21.2");

const machines: Bare[] = [
  {
    name: "Debian 13 with Debian's own Node 20",
    image: () => debian("trixie", ["nodejs", "npm"]),
    versions: ["v20.", "9."],
  },
  {
    name: "Debian 12 with Debian's own Node 18",
    image: () => debian("bookworm", ["nodejs", "npm"]),
    versions: ["v18.", "9."],
  },
  { name: "Debian 13 with Node 22", ...slim("22.23.3", "10.9.9") },
  { name: "Debian 13 with Node 24, an ordinary user", ...node24, user: "dev", folder: "/home/dev/onlooker" },
  {
    name: "Debian 13 with Node 24, root in /root, a path with a space and an accent",
    ...node24,
    folder: "/root/mon café/onlooker",
  },
  { name: "Debian 13 with Node 26 and libatomic1", ...slim("26.10.0", "11.21.2", ["libatomic1"]) },
];

const skip = await leftOut(...machineNeeds);

for (const { name, image, versions, user = "root", folder = "/opt/onlooker" } of machines) {
  test(`${name}: npm start sets everything up, takes a trace and stops clean, and npm test runs`, {
    skip,
  }, async t => {
    const machine = await openMachine(await image());
    t.after(() => machine.close());
    const options = { user, cwd: folder };
    await copyCheckout(machine, folder, user);
    const found = await machine.run("node --version && npm --version", options);
    const [node = "", npm = ""] = found.stdout.trim().split("\n");
    assert.ok(node.startsWith(versions[0]) && npm.startsWith(versions[1]), `Node ${node}, npm ${npm}`);
    const onlooker = await startOnlooker(machine, options);
    const [ready, page] = [onlooker.readySeconds, onlooker.pageSeconds].map(seconds => seconds.toFixed(1));
    t.diagnostic(`Node ${node}, npm ${npm}: ready ${ready} s after npm start, first page ${page} s`);
    await sendFirstTrace(machine, onlooker, options);
    assert.equal(await stopOnlooker(machine, onlooker), 0);
    const tested = await machine.run("npm test -- test/log.test.ts", options);
    assert.match(tested.stdout, /\n[1-9]\d* passed, 0 failed\n$/, `${tested.stdout}${tested.stderr}`);
  });
}
