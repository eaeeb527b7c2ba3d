// Loaded before each test file: ends its process when it takes too long, as node:test bounds tests but not their files. A
// failed test may leave a server running, and the process with it.
const minutes = Number(process.env.SVC_TEST_FILE_MINUTES);

setTimeout(() => {
  console.error(
    `This file did not end within ${minutes} minutes. Still open: ${process.getActiveResourcesInfo()}`,
  );
  process.exit(1);
}, minutes * 60_000).unref();
