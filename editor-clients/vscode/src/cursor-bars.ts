import * as vscode from "vscode";
import type { Position } from "./place";
import type { Server } from "./server";

/** A bar beside some text, which says more on hover. */
export interface Bar {
  /** From 1; equal numbers have equal colours. */
  number: number;
  ranges: { start: Position; end: Position }[];
  hover: string;
}

const HUES = [210, 30, 130, 280, 0, 170, 60, 320];
/** How long the cursor must rest, in milliseconds. */
const PAUSE = 150;

/**
 * Shows the bars that the server answers to a request about the cursor, in documents of some languages. `barOf` reads an element of
 * the response.
 */
export function registerCursorBars<T>(
  server: Server,
  method: string,
  languages: string[],
  barOf: (element: T) => Bar,
): vscode.Disposable {
  const decorations = HUES.map((hue) =>
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
    const elements = await server.ask<T[]>(method, {
      textDocument: { uri: document.uri.toString() },
      position: { line: selection.active.line, character: selection.active.character },
    });
    if (document.version !== version) {
      return;
    }
    const bars = (elements ?? []).map(barOf);
    decorations.forEach((decoration, index) => {
      const own = bars.filter(({ number }) => (number - 1) % decorations.length === index);
      editor.setDecorations(
        decoration,
        own.flatMap(({ ranges, hover }) =>
          ranges.map(({ start, end }) => ({
            range: new vscode.Range(start.line, start.character, end.line, end.character),
            hoverMessage: hover,
          })),
        ),
      );
    });
  };
  const moved = vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
    if (!languages.includes(textEditor.document.languageId)) {
      return;
    }
    clearTimeout(timer);
    timer = setTimeout(() => void show(textEditor), PAUSE);
  });
  return vscode.Disposable.from(moved, ...decorations, { dispose: () => clearTimeout(timer) });
}
