// The policy about files that end the server, without an editor.

import assert from "node:assert/strict";
import { CrashPolicy, DEATHS_OF_A_FILE } from "../../../editor-clients/vscode/src/crash-policy.ts";

export const CRASH_POLICY: Record<string, () => void> = {
  "a file that ends the server with its text is held back, the third time": () => {
    const policy = new CrashPolicy();
    policy.sent("good", 0);
    policy.proven("good");
    for (let death = 1; death <= DEATHS_OF_A_FILE; death++) {
      policy.sent("bad", death * 1000);
      const { suspects, held, restart } = policy.died(death * 1000 + 50);
      assert.deepEqual(suspects, ["bad"]);
      assert.deepEqual(held, death === DEATHS_OF_A_FILE ? ["bad"] : []);
      assert.ok(restart);
      assert.equal(policy.isOnProbation("bad"), death < DEATHS_OF_A_FILE);
    }
    assert.ok(policy.isHeld("bad") && !policy.isHeld("good"));
    policy.release("bad");
    assert.ok(!policy.isHeld("bad"));
  },
  "of several files that are opened at once one is found": () => {
    const policy = new CrashPolicy();
    ["a", "bad", "c"].forEach((file) => policy.sent(file, 0));
    assert.equal(policy.died(100).suspects.length, 3);
    for (let death = 2; death <= DEATHS_OF_A_FILE; death++) {
      // They are opened one at a time now, and `a` does no harm.
      policy.sent("a", death * 1000);
      policy.proven("a");
      policy.acquitted("a");
      policy.sent("bad", death * 1000 + 500);
      assert.deepEqual(policy.died(death * 1000 + 600).suspects, ["bad"]);
    }
    assert.deepEqual(policy.held(), ["bad"]);
  },
  "a request that ends the server is of a file": () => {
    const policy = new CrashPolicy();
    for (const file of ["good", "bad"]) {
      policy.sent(file, 0);
      policy.proven(file);
    }
    policy.requested("good", 100_000)();
    policy.requested("bad", 100_000);
    assert.deepEqual(policy.died(100_001).suspects, ["bad"]);
  },
  "without a file to blame the restarts end": () => {
    const policy = new CrashPolicy();
    const restarts = [0, 1, 2, 3, 4].map((n) => policy.died(n * 1000).restart);
    assert.deepEqual(restarts, [true, true, true, false, false]);
    policy.release();
    assert.ok(policy.died(5000).restart);
    // Now and then is no reason.
    const rare = new CrashPolicy();
    assert.ok([0, 1, 2, 3, 4, 5].every((n) => rare.died(n * 100_000).restart));
  },
};
