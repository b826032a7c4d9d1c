import * as vscode from "vscode";
import { switchHloDocuments } from "./language-detection";
import { registerAccessPattern } from "./access-pattern";
import { registerCompileWithXla } from "./compile-with-xla";
import { registerCompilesView } from "./compiles-view";
import { registerCompareCompiles } from "./compare-compiles";
import { registerConvert } from "./convert";
import { registerFunctionColours } from "./function-colours";
import { registerEvaluateInstruction } from "./evaluate-instruction";
import { registerKernelColours } from "./kernel-colours";
import { registerKernelsView } from "./kernels-view";
import { registerLargeFiles } from "./large-files";
import type { Highlights } from "./live-documents";
import { Server } from "./server";
import { registerShowMemory } from "./show-memory";
import { registerShowReferences } from "./show-references";
import { registerStages } from "./stages";
import { registerShowKernel } from "./show-kernel";
import { registerShowPreview } from "./show-preview";
import { registerStatus } from "./status";
import { registerWarnings } from "./warnings";

let server: Server | undefined;

/** Activates the extension. The tests use what it returns. */
export function activate(context: vscode.ExtensionContext): {
  kernels: Highlights;
  previews: Highlights;
  held: () => string[];
} {
  const log = vscode.window.createOutputChannel("hlo-analyzer", { log: true });
  const running = new Server(context, log);
  server = running;
  const kernels = registerShowKernel(running);
  const previews = registerShowPreview(running);
  const compiles = registerCompilesView(running);

  context.subscriptions.push(
    log,
    running,
    vscode.commands.registerCommand("hlo-analyzer.restartServer", () => running.restart()),
    vscode.commands.registerCommand("hlo-analyzer.serverVersion", () => running.showVersion()),
    vscode.commands.registerCommand("hlo-analyzer.showLog", () => log.show()),
    registerShowReferences(),
    registerAccessPattern(running),
    registerFunctionColours(running),
    registerKernelColours(running),
    registerKernelsView(running, context),
    compiles,
    registerCompileWithXla(running, (folder) => compiles.show(folder)),
    registerStages(running),
    registerLargeFiles(),
    registerWarnings(context),
    registerEvaluateInstruction(running, context),
    registerConvert(running),
    registerCompareCompiles(running, context),
    registerShowMemory(running, context),
    kernels,
    previews,
    registerStatus(running),
    switchHloDocuments(),
    // The extension is also active for plain text, to check first lines; the server starts with the first
    // HLO.
    vscode.workspace.onDidOpenTextDocument((document) => startFor(document, running)),
  );
  for (const document of vscode.workspace.textDocuments) {
    startFor(document, running);
  }
  return { kernels, previews, held: () => running.held };
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

function startFor(document: vscode.TextDocument, running: Server): void {
  if (document.languageId === "hlo" || document.languageId === "mlir") {
    void running.start();
  }
}
