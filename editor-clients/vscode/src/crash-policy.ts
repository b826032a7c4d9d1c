// Which files are reopened after a crash of the server. Independent of VS Code: files are URIs, times are
// milliseconds.

/** A file that crashed the server this many times is held back. */
export const DEATHS_OF_A_FILE = 3;
/** If no file can be blamed, the server is not restarted after this many crashes… */
const DEATHS_OF_NOBODY = 4;
/** …within this time. */
const MEMORY = 180_000;
/** A file on probation has this long to crash the server before the next one is opened. */
export const PROBATION = 2_000;

export interface Verdict {
  /** Files that may have crashed the server. */
  suspects: string[];
  /** The suspects that are held back from now on. */
  held: string[];
  restart: boolean;
}

/**
 * Finds the file that crashes the server. A file is a suspect from the moment its text is sent until its
 * diagnostics arrive, and while a request about it runs. After a crash the suspects are reopened one at a
 * time, so that the next crash has a single suspect. A file that was a suspect three times is not reopened.
 */
export class CrashPolicy {
  /** Files that were sent and have no diagnostics yet. */
  private readonly unproven = new Set<string>();
  /** The number of running requests per file. */
  private readonly asked = new Map<string, number>();
  private readonly deaths = new Map<string, number>();
  private readonly probation = new Set<string>();
  private readonly heldFiles = new Set<string>();
  private unexplained: number[] = [];
  private last: { file: string; at: number } | undefined;

  /** Records that the text of a file, or an edit of it, is sent to the server. */
  sent(file: string, now: number): void {
    this.unproven.add(file);
    this.last = { file, at: now };
  }

  /** Records that the server has processed the file without a crash. */
  proven(file: string): void {
    this.unproven.delete(file);
  }

  closed(file: string): void {
    this.unproven.delete(file);
    this.probation.delete(file);
  }

  /** Records that a request about a file starts; the returned function ends it. */
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

  /** Whether the file must be opened alone. */
  isOnProbation(file: string): boolean {
    return this.probation.has(file);
  }

  /** Records that the file has been open for long enough. */
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
    // A file on probation was opened alone, to test it.
    const known = found.filter((file) => this.deaths.has(file));
    if (known.length > 0) {
      return known;
    }
    const last = this.last !== undefined && now - this.last.at < PROBATION ? [this.last.file] : [];
    return found.length > 0 ? found : last;
  }

  /** Allows one file, or all, to be opened again at the user's request. */
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
