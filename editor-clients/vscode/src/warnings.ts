import * as vscode from "vscode";
import { DISABLE_WARNING } from "./client-commands";
import { SECTION } from "./settings";

/**
 * The URI scheme of documents that explain one code. Links of diagnostics cannot run commands, and a file
 * would be shown as text. So the package opens documents of this scheme in the Markdown preview
 * (`workbench.editorAssociations`).
 */
const SCHEME = "hlo-analyzer-doc";

/**
 * Redirects the link of a diagnostic from a section of the server's page to a document with only that
 * section.
 */
export function linkToPage(diagnostic: vscode.Diagnostic, page: vscode.Uri): vscode.Diagnostic {
  const { code } = diagnostic;
  if (typeof code === "object" && code.target.scheme === "file" && code.target.path === page.path) {
    const name = code.target.fragment || "warnings";
    diagnostic.code = { value: code.value, target: vscode.Uri.from({ scheme: SCHEME, path: `/${name}.md` }) };
  }
  return diagnostic;
}

export function registerWarnings(context: vscode.ExtensionContext): vscode.Disposable {
  const page = vscode.Uri.joinPath(context.extensionUri, "docs", "warnings.md");
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: async ({ path }) => {
        const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(page));
        return sectionOf(text, path.replace(/^\/|\.md$/g, ""));
      },
    }),
    vscode.commands.registerCommand(DISABLE_WARNING, async (code?: unknown) => {
      const section = vscode.workspace.getConfiguration(SECTION);
      const disabled = section.get<string[]>("warnings.disabled", []);
      if (typeof code !== "string" || disabled.includes(code)) {
        return;
      }
      const target = targetOf(section.inspect("warnings.disabled"));
      await section.update("warnings.disabled", [...disabled, code], target);
      const choice = await vscode.window.showInformationMessage(`The warning ${code} is disabled.`, "Undo", "Open Settings");
      if (choice === "Undo") {
        const now = section.get<string[]>("warnings.disabled", []);
        const left = vscode.workspace.getConfiguration(SECTION).get<string[]>("warnings.disabled", now);
        await section.update("warnings.disabled", left.filter((other) => other !== code), target);
      } else if (choice === "Open Settings") {
        await vscode.commands.executeCommand("workbench.action.openSettings", `${SECTION}.warnings.disabled`);
      }
    }),
  );
}

/** Returns the section with this heading as a page, or the whole page if there is none. */
function sectionOf(page: string, code: string): string {
  const [, section] = page.split(`\n### ${code}\n`);
  const body = section?.split(/\n#{1,3} /)[0]?.trim();
  return body === undefined ? page : `# ${code}\n\n${body}\n`;
}

/** Returns where to change a setting: where it is already set, otherwise in the user settings. */
export function targetOf(inspected: { workspaceValue?: unknown } | undefined): vscode.ConfigurationTarget {
  const isOfWorkspace = inspected?.workspaceValue !== undefined;
  return isOfWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
}
