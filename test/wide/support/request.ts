// Sends one HTTP request and prints the reply as JSON: a process of its own, because only a process can enter a network namespace.
const { url, ...init } = JSON.parse(process.argv[2]!) as { url: string } & RequestInit;
try {
  const reply = await fetch(url, init);
  const headers = {
    ...Object.fromEntries(reply.headers),
    "set-cookie": reply.headers.getSetCookie().join("\n"),
  };
  process.stdout.write(JSON.stringify({ status: reply.status, headers, body: await reply.text() }));
} catch (error) {
  const { cause } = error as { cause?: { code?: string } };
  process.stderr.write(`${cause?.code ?? error}\n`);
  process.exitCode = 1;
}
