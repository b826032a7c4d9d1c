import * as vscode from "vscode";
import type { Server } from "./server";

interface Position {
  line: number;
  character: number;
}

/** An element of the response of `hlo-analyzer/kernelFunctions`. */
interface KernelFunction {
  number: number;
  name: string;
  reason: string | null;
  lines: { start: Position; end: Position }[];
}

const HUES = [210, 30, 130, 280, 0, 170, 60, 320];
/** How long the cursor must rest, in milliseconds. */
const PAUSE = 150;

/**
 * Shows a bar beside each line of the fused computation under the cursor, in the colour of the line's
 * function.
 */
export function registerFunctionColours(server: Server): vscode.Disposable {
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
    const { document } = editor;
    const at = editor.selection.active;
    const version = document.version;
    const functions = await server.ask<KernelFunction[]>("hlo-analyzer/kernelFunctions", {
      textDocument: { uri: document.uri.toString() },
      position: { line: at.line, character: at.character },
    });
    if (document.version !== version) {
      return;
    }
    bars.forEach((bar, index) => {
      const own = (functions ?? []).filter((one) => (one.number - 1) % bars.length === index);
      editor.setDecorations(
        bar,
        own.flatMap((one) =>
          one.lines.map(({ start, end }) => ({
            range: new vscode.Range(start.line, start.character, end.line, end.character),
            hoverMessage: `function ${one.number}: ${one.name}${one.reason ? ` — ${one.reason}` : ""}`,
          })),
        ),
      );
    });
  };
  const moved = vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
    if (textEditor.document.languageId !== "hlo") {
      return;
    }
    clearTimeout(timer);
    timer = setTimeout(() => void show(textEditor), PAUSE);
  });
  return vscode.Disposable.from(moved, ...bars, { dispose: () => clearTimeout(timer) });
}
