import type * as vscode from "vscode";
import { registerCursorBars } from "./cursor-bars";
import type { Position } from "./place";
import type { Server } from "./server";

/** An element of the response of `hlo-analyzer/kernelFunctions`. */
interface KernelFunction {
  number: number;
  name: string;
  reason: string | null;
  lines: { start: Position; end: Position }[];
}

/**
 * Shows a bar beside each line of the fused computation under the cursor, in the colour of the line's
 * function.
 */
export function registerFunctionColours(server: Server): vscode.Disposable {
  return registerCursorBars<KernelFunction>(server, "hlo-analyzer/kernelFunctions", ["hlo"], (one) => ({
    number: one.number,
    ranges: one.lines,
    hover: `function ${one.number}: ${one.name}${one.reason ? ` — ${one.reason}` : ""}`,
  }));
}
