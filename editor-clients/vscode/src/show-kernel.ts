import * as vscode from "vscode";
import { SHOW_KERNEL } from "./client-commands";
import { openTabs } from "./kernel-tabs";
import { type Highlights, type Lines, LiveDocuments, lineRanges, type Marks } from "./live-documents";
import { placeOf, type Position } from "./place";
import { KERNEL_SCHEME } from "./schemes";
import type { Server } from "./server";

/** The response of `hlo-analyzer/showKernel`. */
interface ShownKernel {
  instruction: string;
  tabs: { uri: string }[];
}

/** The response of `hlo-analyzer/kernelSource`. */
interface Source {
  uri: string;
  at: { range: { start: Position; end: Position } } | null;
  lines: Lines[];
}

export function registerShowKernel(server: Server): vscode.Disposable & Highlights {
  return new KernelView(server);
}

class KernelView extends LiveDocuments {
  constructor(server: Server) {
    super(server, KERNEL_SCHEME, "kernel", "// the HLO of this kernel is not open\n");
  }

  protected commands(): vscode.Disposable[] {
    return [vscode.commands.registerCommand(SHOW_KERNEL, (uri?: unknown, at?: Position) => this.show(uri, at))];
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

  protected async marksOf(editor: vscode.TextEditor, line: number): Promise<Marks> {
    const uri = editor.document.uri.toString();
    const source = await this.server.ask<Source>("hlo-analyzer/kernelSource", { uri, line });
    const range = source?.at?.range;
    const place = range && new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
    return { own: lineRanges(source?.lines ?? []), source: place ? [place] : [] };
  }
}
