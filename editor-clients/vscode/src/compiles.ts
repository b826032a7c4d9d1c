// The compiles of XLA's dump folders, as the server describes them.

import * as vscode from "vscode";
import type { Position } from "./place";
import type { Server } from "./server";

/** Names of files of which every dump as text has at least one. */
export const DUMPS = "**/*{before,after}_optimizations.txt";
/** More folders are not looked for. */
const MAX_FILES = 400;

/** A stage: the module after a pass. */
export interface Stage {
  uri: string;
  /** From 0, in the compile. */
  index: number;
  title: string;
  /** What the pass does; null if unknown. */
  sentence: string | null;
  kind: "before" | "start" | "pass" | "step" | "point" | "after";
  bytes: number;
}

export interface Pipeline {
  name: string;
  sentence: string | null;
  stages: Stage[];
}

export interface Compile {
  /** Index into the compiles of the folder. */
  index: number;
  title: string;
  description: string;
  problems: string[];
  stages: number;
}

/** The response of `hlo-analyzer/compiles` for a folder. */
export interface Folder {
  folder: string;
  compiles: Compile[];
  problems: string[];
}

/** The response of `hlo-analyzer/compiles` for one compile. */
export interface CompileStages {
  pipelines: Pipeline[];
  artefacts: { uri: string; title: string }[];
}

/** A step of the executable. */
export interface Thunk {
  kind: string;
  /** The thunk that contains it: an index into the list. */
  parent: number | null;
  instruction: string | null;
  /** The name of the function in PTX that it launches. */
  kernel: string | null;
  /** `grid 64 | block 128` */
  launch: string | null;
  /** The instruction in the module after optimizations. */
  at: { uri: string; range: { start: Position; end: Position } } | null;
}

export interface Flag {
  name: string;
  value: string;
  /** Null if unknown. */
  default: string | null;
}

/** The response of `hlo-analyzer/compileDetails`. */
export interface Details {
  device: string | null;
  /** Those that differ from XLA's defaults; null if the folder does not say. */
  flags: Flag[] | null;
  thunks: Thunk[];
}

/** An element of the response of `hlo-analyzer/stageChanges`. */
export interface Changes {
  uri: string;
  /** `+12 −3 instructions`, or why there is nothing to compare. */
  summary: string;
  /** Whether the stage differs from the one before in more than names. */
  isChanged: boolean;
  /** Of the first instruction that is not as it was before, from 0. */
  firstLine: number | null;
  problem: string | null;
}

/** The response of `hlo-analyzer/stageCosts`. */
export interface Costs {
  summary: string;
  /** What the pass changed of it: `−1 kernel · −1.2 MB · −3 µs`; perhaps empty. */
  change: string;
}

export function foldersOf(server: Server, folder: vscode.Uri): Promise<Folder | undefined> {
  return server.ask<Folder>("hlo-analyzer/compiles", { textDocument: { uri: folder.toString() } });
}

export function detailsOf(server: Server, folder: string, compile: number): Promise<Details | undefined> {
  return server.ask<Details>("hlo-analyzer/compileDetails", { textDocument: { uri: folder }, compile });
}

/** The folders of the workspace that have dumps. */
export async function dumpFolders(): Promise<vscode.Uri[]> {
  const files = await vscode.workspace.findFiles(DUMPS, "**/{node_modules,target,.git}/**", MAX_FILES);
  return unique(files.map(folderOf));
}

export function folderOf(file: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(file, "..");
}

/** The folders without those inside another one: a folder is listed with what is in it. */
export function unique(folders: vscode.Uri[]): vscode.Uri[] {
  const byName = new Map(folders.map((folder) => [folder.toString(), folder]));
  const isInside = (name: string): boolean => [...byName.keys()].some((other) => name.startsWith(`${other}/`));
  return [...byName.entries()]
    .filter(([name]) => !isInside(name))
    .map(([, folder]) => folder)
    .sort((one, other) => one.path.localeCompare(other.path, "en", { numeric: true }));
}

/** Whether XLA gives such names to what it dumps of a module. */
export function isDump({ scheme, path }: vscode.Uri): boolean {
  return scheme === "file" && /\/[^/]*(\.|_)(before|after)_[^/]*\.txt$/.test(path);
}
