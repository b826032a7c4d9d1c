// The editor as a person sees it: text on lines, a popup, wavy underlines.
//
// Only mouse coordinates and keys are used. Playwright's own `click` and `hover` on an element first scroll it into
// view, and that moves an inner container of VS Code's editor which must not scroll.

import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { eventually } from "./report.ts";

type Box = NonNullable<Awaited<ReturnType<Locator["boundingBox"]>>>;

/** Nothing of what is not there, or has just been replaced. */
async function boxOf(place: Locator): Promise<Box | undefined> {
  return place.boundingBox({ timeout: 1_000 }).then(
    (box) => box ?? undefined,
    () => undefined,
  );
}

export class Screen {
  /** How often an action had to be repeated; printed, because repetition can hide a fault. */
  retries = 0;
  private readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  private line(text: string): Locator {
    return this.page.locator(".editor-group-container .view-line", { hasText: text }).first();
  }

  /** The visible lines, hints included. */
  async lines(): Promise<string[]> {
    const texts = await this.page.locator(".editor-group-container .view-line").allTextContents();
    return texts.map((text) => text.replaceAll("\u00a0", " "));
  }

  async waitForLine(what: string, milliseconds: number, ...parts: string[]): Promise<string> {
    return eventually(
      what,
      async () => (await this.lines()).find((line) => parts.every((part) => line.includes(part))),
      milliseconds,
    );
  }

  private get popup(): Locator {
    return this.page.locator(".monaco-hover:not(.hidden)").first();
  }

  async squiggles(): Promise<number> {
    return this.page.locator(".editor-group-container .squiggly-error").count();
  }

  /** The middle of what is asked for, when it has stopped moving. */
  private async middle(what: string, ask: () => Promise<Box | undefined>): Promise<[number, number]> {
    let before = "";
    const box = await eventually(`${what} on the screen`, async () => {
      const now = await ask();
      const still = now !== undefined && JSON.stringify(now) === before;
      before = JSON.stringify(now);
      return still ? now : undefined;
    });
    return [box.x + box.width / 2, box.y + box.height / 2];
  }

  private async point(line: string, token: string): Promise<[number, number]> {
    return this.middle(token, () => boxOf(this.line(line).locator("span span", { hasText: token }).first()));
  }

  async click(line: string, token: string): Promise<void> {
    const [x, y] = await this.point(line, token);
    await this.page.mouse.click(x, y);
  }

  /**
   * Clicks the lens with this text that is right above a line, until there is a line with `shown`. VS Code lays lenses out anew
   * whenever an answer about one arrives, and a click during that is lost, as it is for a person.
   */
  async clickLens(text: string, line: string, shown: string): Promise<void> {
    const lenses = this.page.locator(".codelens-decoration a", { hasText: text });
    const above = async (): Promise<Box | undefined> => {
      const below = await boxOf(this.line(line));
      // In no order of theirs: those that have been laid out last come last.
      const boxes = await Promise.all((await lenses.all()).map(boxOf));
      const isAbove = (box: Box): boolean => below !== undefined && box.y < below.y && box.y > below.y - 1.5 * below.height;
      return boxes.filter((box) => box !== undefined).find(isAbove);
    };
    for (let attempt = 0; attempt < 4; attempt++) {
      this.retries += attempt === 0 ? 0 : 1;
      // What the mouse rests on may have a popup, and the lens may lie below it.
      await this.page.mouse.move(5, 5);
      await this.press("Escape");
      await eventually("no popup", async () => ((await this.popup.isVisible()) ? undefined : true));
      const [x, y] = await this.middle(`the lens “${text}” above ${line}`, above);
      await this.page.mouse.click(x, y);
      if (await this.waitForLine(shown, 15_000, shown).then(Boolean, () => false)) {
        return;
      }
    }
    throw new Error(`after clicks on the lens “${text}” above ${line} no line has “${shown}”`);
  }

  /** Waits until the line with this text has a background of its own. */
  async waitForMark(text: string): Promise<void> {
    await eventually(`a mark on ${text}`, async () => {
      const line = await this.line(text).boundingBox();
      const marks = this.page.locator(".editor-group-container .view-overlays .cdr[class*='ced-']");
      const boxes = await Promise.all((await marks.all()).map((mark) => mark.boundingBox()));
      const covers = (box: typeof line) => box !== null && line !== null && Math.abs(box.y - line.y) < 3 && box.x <= line.x + 5;
      return boxes.some(covers) || undefined;
    });
  }

  /** Rests the mouse on a token until a popup shows text that contains `expected`, and returns all of it. */
  async hover(line: string, token: string, expected: string): Promise<string> {
    let seen = "no popup";
    for (let attempt = 0; attempt < 5; attempt++) {
      this.retries += attempt === 0 ? 0 : 1;
      const [x, y] = await this.point(line, token);
      await this.page.mouse.move(x - 4, y + 1);
      await this.page.mouse.move(x, y);
      try {
        return await eventually(
          "the popup",
          async () => {
            seen = (await this.popup.isVisible()) ? oneLine(await this.popup.innerText()) : seen;
            return seen.includes(expected) ? seen : undefined;
          },
          8_000,
        );
      } catch {
        await this.page.mouse.move(5, 5);
        await this.page.keyboard.press("Escape");
      }
    }
    throw new Error(`the popup over ${token} never showed “${expected}”; last seen: ${seen}`);
  }

  /** Waits for a message in the corner and returns its text with the captions of its buttons. */
  async notification(...parts: string[]): Promise<string> {
    const messages = this.page.locator(".notification-toast");
    return eventually(`a message with ${parts.join(" and ")}`, async () => {
      const texts = (await messages.allInnerTexts()).map(oneLine);
      return texts.find((text) => parts.every((part) => text.includes(part)));
    });
  }

  /** Opens a file of the folder by its name, as a person does with Ctrl+P. */
  async openFile(name: string): Promise<void> {
    await this.pick("Control+p", name, name);
    await eventually(`the tab of ${name}`, async () => {
      const tabs = await this.labels(".editor-group-container.active .tab.active");
      return tabs.some((tab) => tab.includes(name)) || undefined;
    });
  }

  /** Puts the cursor at the start of a text of the editor in front, as a person does with Ctrl+F. */
  async find(text: string): Promise<void> {
    const input = this.page.locator(".find-widget.visible .find-part textarea, .find-widget.visible .find-part input").first();
    // A view that is refreshed meanwhile may take the focus back.
    for (let attempt = 0; attempt < 4 && !(await input.isVisible()); attempt++) {
      this.retries += attempt === 0 ? 0 : 1;
      await this.command("View: Focus Active Editor Group");
      await this.press("Control+Home");
      await this.press("Control+f");
      await input.waitFor({ timeout: 5_000 }).catch(() => undefined);
    }
    await input.fill(text, { timeout: 5_000 });
    await eventually(`a match of ${text}`, async () => ((await this.page.locator(".find-widget .no-results").count()) === 0 ? true : undefined));
    await this.press("Enter");
    await this.press("Escape");
    await this.press("ArrowLeft");
    await this.press("ArrowRight");
    await this.waitForLine(text, 10_000, text);
  }

  /** Runs a command by its title, as a person does with Ctrl+Shift+P. */
  async command(title: string): Promise<void> {
    await this.pick("F1", `>${title}`, title);
  }

  private async pick(key: string, typed: string, row: string): Promise<void> {
    const input = this.page.locator(".quick-input-widget:visible input").first();
    for (let attempt = 0; attempt < 4; attempt++) {
      this.retries += attempt === 0 ? 0 : 1;
      await this.press("Escape");
      await this.press(key);
      if (!(await input.waitFor({ timeout: 3_000 }).then(() => true, () => false))) {
        continue;
      }
      // A view that opens takes the keyboard, and the input goes.
      if (!(await input.fill(typed, { timeout: 2_000 }).then(() => true, () => false))) {
        continue;
      }
      const rows = this.page.locator(".quick-input-list .monaco-list-row");
      const isThere = async (): Promise<true | undefined> => {
        const texts = await rows.allInnerTexts();
        return texts[0]?.replaceAll("\u00a0", " ").includes(row) || undefined;
      };
      if (await eventually(row, isThere, 5_000).then(() => true, () => false)) {
        await this.press("Enter");
        return;
      }
    }
    throw new Error(`${key} never offered ${row}`);
  }

  /**
   * Types the path of a file into the dialog that has opened at the top. It lists a folder first, ignores keys until then, and may
   * replace what was typed too early.
   */
  async chooseFile(path: string): Promise<void> {
    const input = this.page.locator(".quick-input-widget:visible input").first();
    // What is visible at first may be the list of commands, which closes.
    const folder = (): Promise<true | undefined> =>
      input.inputValue({ timeout: 1_000 }).then((value) => value.startsWith("/") || undefined, () => undefined);
    for (let attempt = 0; attempt < 6 && (attempt === 0 || (await input.isVisible())); attempt++) {
      this.retries += attempt === 0 ? 0 : 1;
      await eventually("the dialog's folder", folder);
      await input.fill(path);
      await this.page.waitForTimeout(700);
      if ((await input.inputValue()) !== path) {
        continue;
      }
      await this.press("Enter");
      await input.waitFor({ state: "hidden", timeout: 2_000 }).catch(() => undefined);
    }
    assert.ok(!(await input.isVisible()), `the dialog does not take ${path}`);
  }

  /** Follows a link of the editor in front as a person does with Ctrl and a click, at its end, where the cursor is after `find`. */
  async clickLink(text: string): Promise<void> {
    const link = this.page.locator(".editor-group-container.active .detected-link", { hasText: text }).first();
    const box = await eventually(`the link ${text}`, () => boxOf(link));
    await this.page.keyboard.down("Control");
    await this.page.mouse.move(box.x + box.width - 8, box.y + box.height / 2);
    await this.page.mouse.click(box.x + box.width - 6, box.y + box.height / 2);
    await this.page.keyboard.up("Control");
  }

  /** The rows of the picker that is open. */
  async pickerRows(): Promise<string[]> {
    return (await this.page.locator(".quick-input-widget:visible .quick-input-list .monaco-list-row").allInnerTexts()).map(oneLine);
  }

  /** The titles in the menu that Ctrl+. opens. It is pressed again where the editor was still busy. */
  async actions(...expected: string[]): Promise<string[]> {
    const menu = this.page.locator(".action-widget:not(.action-list-submenu-panel)");
    let seen: string[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      this.retries += attempt === 0 ? 0 : 1;
      await this.press("Escape");
      await this.press("Control+.");
      const ask = async (): Promise<string[] | undefined> => {
        seen = (await menu.locator(".monaco-list-row").allInnerTexts()).map(oneLine);
        return expected.every((title) => seen.some((row) => row.includes(title))) ? seen : undefined;
      };
      const found = await eventually("the actions", ask, 3_000).catch(() => undefined);
      if (found !== undefined) {
        return found;
      }
    }
    throw new Error(`Ctrl+. never offered ${expected.join(", ")}; last: ${seen.join(", ")}`);
  }

  /** How many kinds of token the line with this text shows. */
  async colours(line: string): Promise<number> {
    const classes = await this.line(line).locator("span span").evaluateAll((spans) => spans.map((span): string => span.className));
    return new Set(classes.flatMap((names) => names.split(" ").filter((name: string) => /^mtk\d+$/.test(name)))).size;
  }

  /** Waits until the workbench is drawn in another theme: dark or light. */
  async waitForTheme(name: string): Promise<void> {
    const kind = name === "light" ? "vs" : "vs-dark";
    await this.page.waitForSelector(`.monaco-workbench.${kind}`, { timeout: 20_000 });
  }

  /** Texts of what a selector finds, one line each. */
  async texts(selector: string): Promise<string[]> {
    return (await this.page.locator(selector).allInnerTexts()).map(oneLine);
  }

  async labels(selector: string): Promise<string[]> {
    return this.page.locator(selector).evaluateAll((all) => all.map((one): string => one.getAttribute("aria-label") ?? ""));
  }

  async count(selector: string, text?: string): Promise<number> {
    return this.page.locator(selector, text === undefined ? {} : { hasText: text }).count();
  }

  async clickOn(selector: string, text?: string): Promise<void> {
    await this.page.mouse.click(...(await this.middleOf(selector, text)));
  }

  /** Rests the mouse on an element, for what appears only then. */
  async hoverOver(selector: string, text?: string): Promise<void> {
    await this.page.mouse.move(...(await this.middleOf(selector, text)));
  }

  private async middleOf(selector: string, text?: string): Promise<[number, number]> {
    return this.middle(text ?? selector, () => boxOf(this.page.locator(selector, { hasText: text }).first()));
  }

  /** The text of a web view that contains `expected`. */
  async webview(expected: string): Promise<string> {
    return eventually(`a web view with ${expected}`, async () => {
      for (const frame of this.page.frames()) {
        const text = await frame.locator("body").innerText({ timeout: 500 }).catch(() => "");
        if (text.includes(expected)) {
          return text;
        }
      }
      return undefined;
    });
  }

  /** Clicks the middle of an element of a web view. */
  async clickInWebview(selector: string, text?: string): Promise<void> {
    const ask = async (): Promise<Box | undefined> => {
      for (const frame of this.page.frames()) {
        const found = frame.locator(selector, { hasText: text }).first();
        // A frame that goes meanwhile has none. Without this, each frame without one would take a second.
        if ((await found.count().catch(() => 0)) > 0) {
          return boxOf(found);
        }
      }
      return undefined;
    };
    await this.page.mouse.click(...(await this.middle(selector, ask)));
  }

  async type(text: string): Promise<void> {
    await this.page.keyboard.type(text, { delay: 15 });
  }

  async press(key: string): Promise<void> {
    await this.page.keyboard.press(key);
  }

  async screenshot(path: string): Promise<void> {
    await this.page.screenshot({ path });
  }
}

function oneLine(text: string): string {
  return text.replaceAll("\u00a0", " ").replace(/\s+/g, " ");
}
