import * as vscode from "vscode";
import type { Server } from "./server";

interface Position {
  line: number;
  character: number;
}

interface Kernel {
  name: string;
  computation: string;
  kind: string;
  at: { start: Position; end: Position };
  executions: number;
  total_us: number;
  share: number;
  bound: string;
}

/** The answer of `hlo-analyzer/heaviestKernels`. */
interface HeaviestKernels {
  kernels: Kernel[];
  note: string;
}

/** As many as somebody scrolls through. */
const LIMIT = 200;

/** Lists the kernels of the module in front by the time that they take; picking one jumps there. */
export function registerHeaviestKernels(server: Server): vscode.Disposable {
  return vscode.commands.registerCommand("hlo-analyzer.heaviestKernels", async () => {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.languageId !== "hlo") {
      return;
    }
    const answer = await server.ask<HeaviestKernels>("hlo-analyzer/heaviestKernels", {
      textDocument: { uri: editor.document.uri.toString() },
      limit: LIMIT,
    });
    if (!answer || answer.kernels.length === 0) {
      void vscode.window.showInformationMessage("No kernels: this module has not been compiled for a GPU.");
      return;
    }
    const items = answer.kernels.map((kernel) => ({
      label: `%${kernel.name}`,
      description: `${kernel.total_us.toFixed(2)} µs · ${(kernel.share * 100).toFixed(1)} % · ${kernel.bound}`,
      detail: `${kernel.kind} in ${kernel.computation}${kernel.executions > 1 ? ` · ${kernel.executions} runs` : ""}`,
      at: kernel.at,
    }));
    const picked = await vscode.window.showQuickPick(items, {
      title: "Heaviest kernels",
      placeHolder: answer.note,
      matchOnDescription: true,
      matchOnDetail: true,
    });
    if (picked) {
      const { start, end } = picked.at;
      const selection = new vscode.Range(start.line, start.character, end.line, end.character);
      await vscode.window.showTextDocument(editor.document, { selection, viewColumn: editor.viewColumn });
    }
  });
}
