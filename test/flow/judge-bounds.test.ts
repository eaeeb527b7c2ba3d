// The limit of simultaneous judge calls holds for the whole process, across its threads.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { obliging } from "../support/judge-server.ts";
import { openJudgedProject, plain, semantic } from "../support/judged-project.ts";
import { startTestService } from "../support/service.ts";

const service = await startTestService({ config: { evaluators: 3 } });
after(() => service.stop());

for (const concurrency of [1, 4]) {
  test(`${concurrency} at a time, from three threads`, async () => {
    const answer = obliging();
    let running = 0;
    let most = 0;
    const project = await openJudgedProject(service, {
      async script(request, index) {
        most = Math.max(most, ++running);
        await project.server.arrived(concurrency);
        // Enough time for one call too many.
        for (let turn = 0; turn < 100; turn++) await setImmediate();
        running--;
        return answer(request, index);
      },
    });
    await project.connect({ concurrency });
    await project.test({ assertions: [plain, semantic] });
    const said = Array.from({ length: 40 }, (_, at) => `Parcel ${at} is in Lyon and arrives on Tuesday.`);
    const traceIds = await Promise.all(said.map(reply => project.converse(reply)));
    for (const traceId of traceIds) await project.judged(traceId);
    assert.equal(most, concurrency);
    assert.equal(project.server.requests.length, said.length);
  });
}
