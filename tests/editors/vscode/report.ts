// What the two sides of the test tell each other: the driver outside, the checks inside the editor.

export interface CheckResult {
  name: string;
  milliseconds: number;
  /** Absent when the check passed. */
  failure?: string;
}

export interface Report {
  editor: string;
  checks: CheckResult[];
}

/** Files in the opened folder. The driver writes `GO` when the checks may take over the window. */
export const GO = "go";
export const REPORT = "report.json";

export const FIXTURE = "transpose_and_reduce.hlo";
/** A kernel that reads one operand across its layout, which is a warning. */
export const WASTEFUL = "transposed_read.hlo";
export const MLIR_FIXTURE = "tiled_slice.mlir";
/** A module before fusion. */
export const UNFUSED = "unfused.hlo";
/** The same text under names that say more or less about it. */
export const DUMP = "module_0001.jit_step.sm_9.0_gpu_after_optimizations.txt";
export const UNKNOWN_NAME = "pasted-from-a-chat.txt";
/** What XLA writes beside a dump, which is not HLO. */
export const BESIDE = "module_0001.jit_step.sm_9.0_gpu_after_optimizations-buffer-assignment.txt";
/** More than 20 MB, from where VS Code optimises, and more than 50 MB, which it keeps from extensions. */
export const LARGE = "large.hlo";
export const HUGE = "huge.hlo";
/** With this text the server that `deadly-server.mjs` stands in for dies. */
export const DEADLY = "kills-the-server.hlo";
export const DEADLY_TEXT = "THIS KILLS THE SERVER";
/** Stands in for the server when that has gone. */
export const DEADLY_SERVER = "deadly-server";
/** A dump of a real program; only where the checkout has a corpus beside it. */
export const REAL_DUMP = "module_0002.jit_real.sm_9.0_gpu_after_optimizations.txt";

/** A compile as XLA dumped it, in a folder of its own; `layer.py` is the program. */
export const DUMP_FOLDER = "dump";

/** Asks again until there is an answer. What is asked for comes from other processes, on a machine that may be slow. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  milliseconds = 30_000,
): Promise<T> {
  const end = Date.now() + milliseconds;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) {
      return answer;
    }
    if (Date.now() > end) {
      throw new Error(`not within ${milliseconds / 1000} s: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
