import type * as vscode from "vscode";
import { registerCursorBars } from "./cursor-bars";
import type { Position } from "./place";
import type { Server } from "./server";

/** An element of the response of `hlo-analyzer/kernelMembers`. */
interface Kernel {
  /** From 1. */
  number: number;
  count: number;
  title: string;
  ranges: { start: Position; end: Position }[];
}

/**
 * In a module that is not fused yet, shows a bar beside each instruction that XLA would fuse with the one under the cursor, in the
 * colour of their kernel.
 */
export function registerKernelColours(server: Server): vscode.Disposable {
  return registerCursorBars<Kernel>(server, "hlo-analyzer/kernelMembers", ["hlo", "mlir"], ({ number, ranges, title }) => ({
    number,
    ranges,
    hover: title,
  }));
}
