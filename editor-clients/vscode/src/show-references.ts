import * as vscode from "vscode";
import { SHOW_ACCESS_PATTERN } from "./access-pattern";
import { SHOW_KERNEL } from "./show-kernel";
import type { ClientCapabilities, StaticFeature } from "vscode-languageclient/node";

/** The command of the server's code lenses: a click shows where a computation is called. */
const COMMAND = "hlo-analyzer.showReferences";

/** Tells the server which commands its lenses and actions may name. */
export const showReferencesFeature: StaticFeature = {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    capabilities.experimental = { ...(capabilities.experimental ?? {}), commands: [COMMAND, SHOW_ACCESS_PATTERN, SHOW_KERNEL] };
  },
  initialize(): void {},
  getState: () => ({ kind: "static" }),
  clear(): void {},
};

interface Position {
  line: number;
  character: number;
}

interface Location {
  uri: string;
  range: { start: Position; end: Position };
}

/** VS Code's own command wants its own types, which do not travel in JSON. */
export function registerShowReferences(): vscode.Disposable {
  const position = (at: Position) => new vscode.Position(at.line, at.character);
  return vscode.commands.registerCommand(COMMAND, (uri: string, at: Position, locations: Location[]) =>
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
