// What a compile was told and what it runs, in the view of compiles: device, flags, thunks.

import * as vscode from "vscode";
import type { Details, Flag, Thunk } from "./compiles";
import { goTo } from "./place";
import { item } from "./tree-item";

/** The command of a thunk's item. */
export const GO_TO_THUNK = "hlo-analyzer.compiles.goTo";

export type DetailNode =
  | { kind: "device"; device: string }
  | { kind: "flags"; flags: Flag[] }
  | { kind: "flag"; flag: Flag }
  | { kind: "thunks"; thunks: Thunk[] }
  /** `index` is that of `thunk` in the list of all. */
  | { kind: "thunk"; thunks: Thunk[]; thunk: Thunk; index: number };

/** What a compile has of it. */
export function detailNodes(details: Details | undefined): DetailNode[] {
  const nodes: DetailNode[] = [];
  if (details?.device) {
    nodes.push({ kind: "device", device: details.device });
  }
  if (details?.flags && details.flags.length > 0) {
    nodes.push({ kind: "flags", flags: details.flags });
  }
  if (details && details.thunks.length > 0) {
    nodes.push({ kind: "thunks", thunks: details.thunks });
  }
  return nodes;
}

export function inDetail(node: DetailNode): DetailNode[] {
  switch (node.kind) {
    case "flags":
      return node.flags.map((flag) => ({ kind: "flag", flag }));
    case "thunks":
      return inThunk(node.thunks, null);
    case "thunk":
      return inThunk(node.thunks, node.index);
    default:
      return [];
  }
}

export function detailItem(node: DetailNode): vscode.TreeItem {
  switch (node.kind) {
    case "device": {
      const shown = item(node.device, "chip", false);
      shown.description = "compiled for this device";
      return shown;
    }
    case "flags": {
      const shown = item("Flags", "settings-gear", true);
      shown.description = `${node.flags.length} differ from XLA's defaults`;
      return shown;
    }
    case "flag":
      return flagItem(node.flag);
    case "thunks": {
      const shown = item("Thunks", "run-all", true);
      const kernels = node.thunks.filter(({ kernel }) => kernel !== null).length;
      shown.description = `${node.thunks.length} steps, ${kernels} kernels`;
      shown.tooltip = "What the executable runs, in order";
      return shown;
    }
    case "thunk":
      return thunkItem(node.thunk, node.thunks.some(({ parent }) => parent === node.index));
  }
}

/** The thunks that one contains; without one, those of the sequence itself. */
function inThunk(thunks: Thunk[], outer: number | null): DetailNode[] {
  return thunks.flatMap((thunk, index): DetailNode[] => (thunk.parent === outer ? [{ kind: "thunk", thunks, thunk, index }] : []));
}

function flagItem({ name, value, default: usual }: Flag): vscode.TreeItem {
  // All start with it, and the room is small.
  const shown = item(`${name.replace(/^xla_/, "")} = ${value}`, "symbol-property", false);
  shown.description = usual === null ? undefined : `default ${usual === "" ? "empty" : usual}`;
  shown.tooltip = usual === null ? `--${name}=${value}` : `--${name}=${value}\nXLA's default as of August 2026: ${usual || "empty"}`;
  return shown;
}

function thunkItem({ kind, instruction, kernel, launch, at }: Thunk, hasChildren: boolean): vscode.TreeItem {
  const shown = item(instruction ?? kernel ?? kind, kernel === null ? "circle-small" : "symbol-function", hasChildren);
  const name = kernel !== null && kernel !== instruction ? [kernel] : [];
  shown.description = [launch?.replaceAll(" | ", " · "), ...name, kind].filter((part) => part).join(" · ");
  shown.tooltip = [instruction === null ? undefined : `%${instruction}`, kind, kernel && `kernel ${kernel}`, launch].filter((part) => part).join("\n");
  if (at !== null) {
    shown.command = { command: "hlo-analyzer.compiles.goTo", title: "Go to the Instruction", arguments: [at] };
  }
  return shown;
}

export function goToThunk({ uri, range }: NonNullable<Thunk["at"]>): Promise<void> {
  return goTo(vscode.Uri.parse(uri), range);
}
