import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

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

interface Report {
  kernels: Kernel[];
  note: string;
}

/** Lists the kernels of the module in front by the time that they take; picking one jumps there. */
export async function pickHeaviestKernel(client: LanguageClient | undefined): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== "hlo" || client === undefined) {
    void vscode.window.showInformationMessage("Heaviest kernels: open an HLO file first.");
    return;
  }
  const report = await client.sendRequest<Report>("hlo-analyzer/heaviestKernels", {
    textDocument: { uri: client.code2ProtocolConverter.asUri(editor.document.uri) },
    limit: 200,
  });
  if (report.kernels.length === 0) {
    void vscode.window.showInformationMessage("No kernels: this module has not been compiled for a GPU.");
    return;
  }
  const items = report.kernels.map((kernel) => ({
    label: `%${kernel.name}`,
    description: `${kernel.total_us.toFixed(2)} µs · ${(kernel.share * 100).toFixed(1)} % · ${kernel.bound}`,
    detail: `${kernel.kind} in ${kernel.computation}${kernel.executions > 1 ? ` · ${kernel.executions} runs` : ""}`,
    kernel,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: "Heaviest kernels",
    placeHolder: report.note,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (picked) {
    const { start, end } = picked.kernel.at;
    const range = new vscode.Range(start.line, start.character, end.line, end.character);
    await vscode.window.showTextDocument(editor.document, { selection: range, viewColumn: editor.viewColumn });
  }
}
