import * as vscode from "vscode";
import { SHOW_REFERENCES } from "./client-commands";

interface Position {
  line: number;
  character: number;
}

interface Location {
  uri: string;
  range: { start: Position; end: Position };
}

/** Registers a wrapper of VS Code's own command, which requires VS Code's types rather than JSON. */
export function registerShowReferences(): vscode.Disposable {
  const position = (at: Position) => new vscode.Position(at.line, at.character);
  return vscode.commands.registerCommand(SHOW_REFERENCES, (uri: string, at: Position, locations: Location[]) =>
    vscode.commands.executeCommand(
      "editor.action.showReferences",
      vscode.Uri.parse(uri),
      position(at),
      locations.map(
        ({ uri, range }) =>
          new vscode.Location(vscode.Uri.parse(uri), new vscode.Range(position(range.start), position(range.end))),
      ),
    ),
  );
}
