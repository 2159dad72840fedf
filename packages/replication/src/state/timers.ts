/** Named times in the order of their time; equal times in the order they were set. */
export class Timers {
  readonly #times = new Map<string, number>()

  set(name: string, atMs: number): void {
    this.#times.delete(name)
    this.#times.set(name, atMs)
  }

  cancel(name: string): void {
    this.#times.delete(name)
  }

  cancelAll(prefix: string): void {
    for (const name of this.#times.keys()) if (name.startsWith(prefix)) this.#times.delete(name)
  }

  /** Null: not set. */
  at(name: string): number | null {
    return this.#times.get(name) ?? null
  }

  /** The earliest one; null: none is set. */
  next(): { readonly name: string; readonly atMs: number } | null {
    let next: { name: string; atMs: number } | null = null
    for (const [name, atMs] of this.#times) if (next === null || atMs < next.atMs) next = { name, atMs }
    return next
  }
}
