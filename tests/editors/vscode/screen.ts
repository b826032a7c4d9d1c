// The editor as a person sees it: text on lines, a popup, wavy underlines.
//
// Only mouse coordinates and keys are used. Playwright's own `click` and `hover` on an element first scroll it into
// view, and that moves an inner container of VS Code's editor which must not scroll.

import type { Locator, Page } from "playwright-core";
import { eventually } from "./report.ts";

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

  async waitForLine(what: string, ...parts: string[]): Promise<string> {
    return eventually(
      what,
      async () => (await this.lines()).find((line) => parts.every((part) => line.includes(part))),
      60_000,
    );
  }

  async squiggles(): Promise<number> {
    return this.page.locator(".editor-group-container .squiggly-error").count();
  }

  /** The middle of a token, when it has stopped moving. */
  private async point(line: string, token: string): Promise<[number, number]> {
    const place = this.line(line).locator("span span", { hasText: token }).first();
    let before = "";
    const box = await eventually(`${token} on the screen`, async () => {
      const now = await place.boundingBox().catch(() => null);
      const still = now !== null && JSON.stringify(now) === before;
      before = JSON.stringify(now);
      return still ? now : undefined;
    });
    return [box.x + box.width / 2, box.y + box.height / 2];
  }

  async click(line: string, token: string): Promise<void> {
    const [x, y] = await this.point(line, token);
    await this.page.mouse.click(x, y);
  }

  /** Clicks the first lens with this text. */
  async clickLens(text: string): Promise<void> {
    const lens = this.page.locator(".codelens-decoration a", { hasText: text }).first();
    await lens.waitFor({ timeout: 30_000 });
    const box = await eventually("the lens", () => lens.boundingBox().then((box) => box ?? undefined));
    await this.page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
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
    const popup = this.page.locator(".monaco-hover:not(.hidden)").first();
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
            seen = (await popup.isVisible()) ? oneLine(await popup.innerText()) : seen;
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
