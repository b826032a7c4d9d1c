// Which files a server that has died gets again. Knows nothing of VS Code: files are URIs, times are milliseconds.

/** A file that has been sent in so many lives of the server, each of which it ended, is held back. */
export const DEATHS_OF_A_FILE = 3;
/** Without a file to blame the server is not restarted after so many deaths… */
const DEATHS_OF_NOBODY = 4;
/** …within this time. */
const MEMORY = 180_000;
/** A file that is opened on probation has this long to do harm before the next one is opened. */
export const PROBATION = 2_000;

export interface Verdict {
  /** Files that may have ended the server. */
  suspects: string[];
  /** Those of them that are held back from now on. */
  held: string[];
  restart: boolean;
}

/**
 * Finds the file that ends the server. A file is under suspicion from the moment its text is sent until findings about it arrive,
 * and while a request about it runs. After a death the suspects are opened again one at a time, so that the next death has one
 * suspect; the file that has been it three times is not opened again.
 */
export class CrashPolicy {
  /** Sent, and not answered by findings yet. */
  private readonly unproven = new Set<string>();
  /** How many requests about a file run. */
  private readonly asked = new Map<string, number>();
  private readonly deaths = new Map<string, number>();
  private readonly probation = new Set<string>();
  private readonly heldFiles = new Set<string>();
  private unexplained: number[] = [];
  private last: { file: string; at: number } | undefined;

  /** The text of a file, or an edit of it, goes to the server. */
  sent(file: string, now: number): void {
    this.unproven.add(file);
    this.last = { file, at: now };
  }

  /** The server has looked at the file and lives. */
  proven(file: string): void {
    this.unproven.delete(file);
  }

  closed(file: string): void {
    this.unproven.delete(file);
    this.probation.delete(file);
  }

  /** A request about a file starts; the answer ends it. */
  requested(file: string, now: number): () => void {
    this.asked.set(file, (this.asked.get(file) ?? 0) + 1);
    this.last = { file, at: now };
    return () => {
      const left = (this.asked.get(file) ?? 1) - 1;
      if (left > 0) {
        this.asked.set(file, left);
      } else {
        this.asked.delete(file);
      }
    };
  }

  isHeld(file: string): boolean {
    return this.heldFiles.has(file);
  }

  held(): string[] {
    return [...this.heldFiles];
  }

  isUnproven(file: string): boolean {
    return this.unproven.has(file);
  }

  /** Whether the file is to be opened alone. */
  isOnProbation(file: string): boolean {
    return this.probation.has(file);
  }

  /** The file has been open for long enough. */
  acquitted(file: string): void {
    this.probation.delete(file);
  }

  died(now: number): Verdict {
    const suspects = this.suspects(now);
    this.unproven.clear();
    this.asked.clear();
    this.last = undefined;
    this.probation.clear();
    const held: string[] = [];
    for (const file of suspects) {
      const deaths = (this.deaths.get(file) ?? 0) + 1;
      this.deaths.set(file, deaths);
      if (deaths >= DEATHS_OF_A_FILE) {
        this.heldFiles.add(file);
        held.push(file);
      } else {
        this.probation.add(file);
      }
    }
    if (suspects.length === 0) {
      this.unexplained = [...this.unexplained.filter((at) => now - at < MEMORY), now];
    }
    return { suspects, held, restart: this.unexplained.length < DEATHS_OF_NOBODY };
  }

  private suspects(now: number): string[] {
    const running = [...this.asked.keys()];
    const found = this.unproven.size > 0 ? [...this.unproven] : running;
    // A file that is on probation was opened alone, to find out.
    const known = found.filter((file) => this.deaths.has(file));
    if (known.length > 0) {
      return known;
    }
    const last = this.last !== undefined && now - this.last.at < PROBATION ? [this.last.file] : [];
    return found.length > 0 ? found : last;
  }

  /** The user wants to try again: one file, or all. */
  release(file?: string): void {
    if (file === undefined) {
      this.heldFiles.clear();
      this.deaths.clear();
      this.probation.clear();
      this.unexplained = [];
    } else {
      this.heldFiles.delete(file);
      this.deaths.delete(file);
      this.probation.delete(file);
    }
  }
}
