import * as vscode from "vscode";
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

const HUES = [210, 30, 130, 280, 0, 170, 60, 320];
/** How long the cursor must rest, in milliseconds. */
const PAUSE = 150;

/**
 * In a module that is not fused yet, shows a bar beside each instruction that XLA would fuse with the one under the cursor, in the
 * colour of their kernel.
 */
export function registerKernelColours(server: Server): vscode.Disposable {
  const bars = HUES.map((hue) =>
    vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      borderStyle: "solid",
      borderWidth: "0 0 0 3px",
      borderColor: `hsl(${hue}, 65%, 55%)`,
      overviewRulerColor: `hsl(${hue}, 65%, 55%)`,
      overviewRulerLane: vscode.OverviewRulerLane.Left,
    }),
  );
  let timer: NodeJS.Timeout | undefined;
  const show = async (editor: vscode.TextEditor) => {
    const { document, selection } = editor;
    const version = document.version;
    const kernels = await server.ask<Kernel[]>("hlo-analyzer/kernelMembers", {
      textDocument: { uri: document.uri.toString() },
      position: { line: selection.active.line, character: selection.active.character },
    });
    if (document.version !== version) {
      return;
    }
    bars.forEach((bar, index) => {
      const own = (kernels ?? []).filter(({ number }) => (number - 1) % bars.length === index);
      editor.setDecorations(
        bar,
        own.flatMap(({ title, ranges }) =>
          ranges.map(({ start, end }) => ({
            range: new vscode.Range(start.line, start.character, end.line, end.character),
            hoverMessage: title,
          })),
        ),
      );
    });
  };
  const moved = vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
    const { languageId } = textEditor.document;
    if (languageId !== "hlo" && languageId !== "mlir") {
      return;
    }
    clearTimeout(timer);
    timer = setTimeout(() => void show(textEditor), PAUSE);
  });
  return vscode.Disposable.from(moved, ...bars, { dispose: () => clearTimeout(timer) });
}
