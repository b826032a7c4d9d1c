import * as vscode from "vscode";
import { SHOW_KERNEL } from "./client-commands";
import { openTabs } from "./kernel-tabs";
import { placeOf, type Position } from "./place";
import { KERNEL_SCHEME } from "./schemes";
import type { Server } from "./server";

/** The response of `hlo-analyzer/showKernel`. */
interface ShownKernel {
  instruction: string;
  tabs: { uri: string }[];
}

interface Lines {
  first: number;
  last: number;
}

/** The response of `hlo-analyzer/kernelSource`. */
interface Source {
  uri: string;
  at: { range: { start: Position; end: Position } } | null;
  lines: Lines[];
}

/** How long the cursor must rest before the other side follows, in milliseconds. */
const PAUSE = 60;

/** An interface for the tests of this extension. */
export interface KernelHighlights {
  /** Returns the marked lines of a document as pairs of first and last line, from 0. */
  marked(uri: vscode.Uri): [number, number][];
}

export function registerShowKernel(server: Server): vscode.Disposable & KernelHighlights {
  return new KernelView(server);
}

class KernelView implements vscode.Disposable, KernelHighlights, vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  /** The last text of each document, which stays when the HLO is closed. */
  private readonly texts = new Map<string, string>();
  /** Documents whose last request had no response. VS Code keeps what it was given instead until they change. */
  private readonly unanswered = new Set<string>();
  private readonly marks = new Map<string, vscode.Range[]>();
  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.wordHighlightBackground"),
    borderStyle: "solid",
    borderWidth: "0 0 0 3px",
    borderColor: new vscode.ThemeColor("focusBorder"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.rangeHighlightForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
  });
  private timer: NodeJS.Timeout | undefined;
  /** The number of the last cursor movement: responses for earlier ones are dropped. */
  private moves = 0;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.subscriptions = [
      this.changed,
      this.mark,
      vscode.workspace.registerTextDocumentContentProvider(KERNEL_SCHEME, this),
      vscode.commands.registerCommand(SHOW_KERNEL, (uri?: unknown, at?: Position) => this.show(uri, at)),
      server.onNotification<{ uri: string }>("hlo-analyzer/kernelChanged", ({ uri }) =>
        this.changed.fire(vscode.Uri.parse(uri)),
      ),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.moved(textEditor)),
      // If another tab becomes active or its text changes, the marks are computed again.
      vscode.window.onDidChangeVisibleTextEditors(() => this.refresh()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.scheme === KERNEL_SCHEME) {
          this.refresh();
        }
      }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        this.texts.delete(uri.toString());
        this.unanswered.delete(uri.toString());
        this.marks.delete(uri.toString());
      }),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  marked(uri: vscode.Uri): [number, number][] {
    return (this.marks.get(uri.toString()) ?? []).map(({ start, end }) => [start.line, end.line]);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const name = uri.toString();
    const content = await this.server.ask<{ text: string }>("hlo-analyzer/kernelContent", { uri: name });
    if (content === undefined) {
      this.unanswered.add(name);
      return this.texts.get(name) ?? "// the HLO of this kernel is not open\n";
    }
    this.unanswered.delete(name);
    this.texts.set(name, content.text);
    return content.text;
  }

  private async show(uri?: unknown, at?: Position): Promise<void> {
    const place = await placeOf(this.server, uri, at);
    if (place === undefined) {
      return;
    }
    const kernel = await this.server.request<ShownKernel>("hlo-analyzer/showKernel", {
      textDocument: { uri: place.uri },
      position: place.position,
    });
    if (kernel === null) {
      void vscode.window.showInformationMessage("There is no kernel at this place.");
    } else if (kernel !== undefined) {
      const uris = kernel.tabs.map((tab) => vscode.Uri.parse(tab.uri));
      await openTabs(uris);
      for (const uri of uris.filter((uri) => this.unanswered.has(uri.toString()))) {
        this.changed.fire(uri);
      }
      this.refresh();
    }
  }

  private moved(editor: vscode.TextEditor): void {
    const { languageId, uri } = editor.document;
    if (languageId === "hlo" || languageId === "mlir" || uri.scheme === KERNEL_SCHEME) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.follow(editor), PAUSE);
    }
  }

  /** Follows the cursor again, in the editors that are now visible. */
  private refresh(): void {
    const active = vscode.window.activeTextEditor;
    const kernels = vscode.window.visibleTextEditors.filter(isKernel);
    const files = new Set(kernels.map((editor) => fileOf(editor.document.uri)));
    const editors = vscode.window.visibleTextEditors.filter(({ document }) => files.has(document.uri.toString()));
    const from = active && (isKernel(active) || editors.includes(active)) ? active : editors[0];
    if (from) {
      this.moved(from);
    }
  }

  private async follow(editor: vscode.TextEditor): Promise<void> {
    const move = ++this.moves;
    const at = editor.selection.active;
    if (!isKernel(editor)) {
      await this.toKernels(editor, at, move);
      return;
    }
    const uri = editor.document.uri.toString();
    const source = await this.server.ask<Source>("hlo-analyzer/kernelSource", { uri, line: at.line });
    if (move !== this.moves) {
      return;
    }
    this.set(editor, lineRanges(source?.lines ?? []));
    const file = fileOf(editor.document.uri);
    for (const other of vscode.window.visibleTextEditors.filter(({ document }) => document.uri.toString() === file)) {
      const range = source?.at?.range;
      const place = range && new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
      this.set(other, place ? [place] : []);
      reveal(other, place);
    }
  }

  private async toKernels(editor: vscode.TextEditor, at: vscode.Position, move: number): Promise<void> {
    const file = editor.document.uri.toString();
    const kernels = vscode.window.visibleTextEditors.filter(
      (other) => isKernel(other) && fileOf(other.document.uri) === file,
    );
    if (kernels.length > 0) {
      this.set(editor, []);
    }
    for (const kernel of kernels) {
      const answer = await this.server.ask<{ lines: Lines[] }>("hlo-analyzer/kernelLines", {
        uri: kernel.document.uri.toString(),
        position: { line: at.line, character: at.character },
      });
      if (move !== this.moves) {
        return;
      }
      const ranges = lineRanges(answer?.lines ?? []);
      this.set(kernel, ranges);
      reveal(kernel, ranges[0]);
    }
  }

  private set(editor: vscode.TextEditor, ranges: vscode.Range[]): void {
    this.marks.set(editor.document.uri.toString(), ranges);
    editor.setDecorations(this.mark, ranges);
  }
}

function isKernel(editor: vscode.TextEditor): boolean {
  return editor.document.uri.scheme === KERNEL_SCHEME;
}

/** Returns the HLO file of a kernel. */
function fileOf(kernel: vscode.Uri): string | undefined {
  try {
    const { file } = JSON.parse(kernel.query) as { file?: unknown };
    // Normalised to this editor's spelling.
    return typeof file === "string" ? vscode.Uri.parse(file).toString() : undefined;
  } catch {
    return undefined;
  }
}

function lineRanges(lines: Lines[]): vscode.Range[] {
  return lines.map(({ first, last }) => new vscode.Range(first, 0, last, 0));
}

function reveal(editor: vscode.TextEditor, range: vscode.Range | undefined): void {
  if (range) {
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
}
