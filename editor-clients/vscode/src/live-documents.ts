// Documents that the server writes about a file and that follow its edits: kernels, and modules after passes. The cursor on one
// side marks the lines of the other.

import * as vscode from "vscode";
import type { Server } from "./server";

/** Lines of a document, both included, from 0. */
export interface Lines {
  first: number;
  last: number;
}

/** What the cursor in a line of a document marks. */
export interface Marks {
  /** In the document itself. */
  own: vscode.Range[];
  /** In the file that it is about. */
  source: vscode.Range[];
}

/** An interface for the tests of this extension. */
export interface Highlights {
  /** Returns the marked lines of a document as pairs of first and last line, from 0. */
  marked(uri: vscode.Uri): [number, number][];
}

/** How long the cursor must rest before the other side follows, in milliseconds. */
const PAUSE = 60;

export abstract class LiveDocuments implements vscode.Disposable, Highlights, vscode.TextDocumentContentProvider {
  protected readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  /** The last text of each document, which stays when its file is closed. */
  private readonly texts = new Map<string, string>();
  /** Documents whose last request had no response. VS Code keeps what it was given instead until they change. */
  protected readonly unanswered = new Set<string>();
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

  /**
   * `kind` is the first word of the server's requests about these documents: `hlo-analyzer/kernelContent`. `absent` is the text of a
   * document that the server has never written.
   */
  constructor(
    protected readonly server: Server,
    private readonly scheme: string,
    private readonly kind: string,
    private readonly absent: string,
  ) {
    this.subscriptions = [
      this.changed,
      this.mark,
      vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      ...this.commands(),
      server.onNotification<{ uri: string }>(`hlo-analyzer/${kind}Changed`, ({ uri }) => this.changed.fire(vscode.Uri.parse(uri))),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.moved(textEditor)),
      // If another tab becomes active or its text changes, the marks are computed again.
      vscode.window.onDidChangeVisibleTextEditors(() => this.refresh()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.scheme === scheme) {
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

  /** Registers the commands that show documents. */
  protected abstract commands(): vscode.Disposable[];

  /** Returns what the cursor in a line of a document marks. */
  protected abstract marksOf(editor: vscode.TextEditor, line: number): Promise<Marks>;

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  marked(uri: vscode.Uri): [number, number][] {
    return (this.marks.get(uri.toString()) ?? []).map(({ start, end }) => [start.line, end.line]);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const name = uri.toString();
    const content = await this.server.ask<{ text: string }>(`hlo-analyzer/${this.kind}Content`, { uri: name });
    if (content === undefined) {
      this.unanswered.add(name);
      return this.texts.get(name) ?? this.absent;
    }
    this.unanswered.delete(name);
    this.texts.set(name, content.text);
    return content.text;
  }

  private moved(editor: vscode.TextEditor): void {
    const { languageId, uri } = editor.document;
    if (languageId === "hlo" || languageId === "mlir" || uri.scheme === this.scheme) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.follow(editor), PAUSE);
    }
  }

  /** Follows the cursor again, in the editors that are now visible. */
  protected refresh(): void {
    const active = vscode.window.activeTextEditor;
    const shown = vscode.window.visibleTextEditors.filter((editor) => this.isShown(editor));
    const files = new Set(shown.map(({ document }) => fileOf(document.uri)));
    const editors = vscode.window.visibleTextEditors.filter(({ document }) => files.has(document.uri.toString()));
    const from = active && (this.isShown(active) || editors.includes(active)) ? active : editors[0];
    if (from) {
      this.moved(from);
    }
  }

  private async follow(editor: vscode.TextEditor): Promise<void> {
    const move = ++this.moves;
    const at = editor.selection.active;
    if (!this.isShown(editor)) {
      await this.toDocuments(editor, at, move);
      return;
    }
    const { own, source } = await this.marksOf(editor, at.line);
    if (move !== this.moves) {
      return;
    }
    this.set(editor, own);
    const file = fileOf(editor.document.uri);
    for (const other of vscode.window.visibleTextEditors.filter(({ document }) => document.uri.toString() === file)) {
      this.set(other, source);
      reveal(other, source[0]);
    }
  }

  private async toDocuments(editor: vscode.TextEditor, at: vscode.Position, move: number): Promise<void> {
    const file = editor.document.uri.toString();
    const documents = vscode.window.visibleTextEditors.filter(
      (other) => this.isShown(other) && fileOf(other.document.uri) === file,
    );
    if (documents.length > 0) {
      this.set(editor, []);
    }
    for (const document of documents) {
      const answer = await this.server.ask<{ lines: Lines[] }>(`hlo-analyzer/${this.kind}Lines`, {
        uri: document.document.uri.toString(),
        position: { line: at.line, character: at.character },
      });
      if (move !== this.moves) {
        return;
      }
      const ranges = lineRanges(answer?.lines ?? []);
      this.set(document, ranges);
      reveal(document, ranges[0]);
    }
  }

  private set(editor: vscode.TextEditor, ranges: vscode.Range[]): void {
    this.marks.set(editor.document.uri.toString(), ranges);
    editor.setDecorations(this.mark, ranges);
  }

  private isShown(editor: vscode.TextEditor): boolean {
    return editor.document.uri.scheme === this.scheme;
  }
}

/** Returns the file that a document is about. */
function fileOf(document: vscode.Uri): string | undefined {
  try {
    const { file } = JSON.parse(document.query) as { file?: unknown };
    // Normalised to this editor's spelling.
    return typeof file === "string" ? vscode.Uri.parse(file).toString() : undefined;
  } catch {
    return undefined;
  }
}

export function lineRanges(lines: Lines[]): vscode.Range[] {
  return lines.map(({ first, last }) => new vscode.Range(first, 0, last, 0));
}

function reveal(editor: vscode.TextEditor, range: vscode.Range | undefined): void {
  if (range) {
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
}
