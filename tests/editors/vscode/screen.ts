// The editor as a person sees it: text on lines, a popup, wavy underlines.
//
// Only mouse coordinates and keys are used. Playwright's own `click` and `hover` on an element first scroll it into
// view, and that moves an inner container of VS Code's editor which must not scroll.

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
