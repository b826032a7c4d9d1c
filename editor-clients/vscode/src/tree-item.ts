import * as vscode from "vscode";

/** An item of a tree view, with an icon of VS Code's. */
export function item(label: string, icon: string, hasChildren: boolean): vscode.TreeItem {
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const shown = new vscode.TreeItem(label, hasChildren ? Collapsed : None);
  shown.iconPath = new vscode.ThemeIcon(icon);
  return shown;
}
