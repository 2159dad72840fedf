interface Timer {
  readonly name: string
  /** Infinity: not set. */
  atMs: number
  /** Grows with each `set`. */
  order: number
}

/** Named times in the order of their time; equal times in the order they were set. */
export class Timers {
  /** Less than a dozen, some of which are set with every heartbeat: nothing is moved. */
  readonly #timers: Timer[] = []
  #order = 0

  set(name: string, atMs: number): void {
    const timer = this.#named(name)
    const order = ++this.#order
    if (timer === undefined) {
      this.#timers.push({ name, atMs, order })
      return
    }
    timer.atMs = atMs
    timer.order = order
  }

  cancel(name: string): void {
    const timer = this.#named(name)
    if (timer !== undefined) timer.atMs = Infinity
  }

  cancelAll(prefix: string): void {
    for (let i = this.#timers.length - 1; i >= 0; i--)
      if (this.#timers[i]!.name.startsWith(prefix)) this.#timers.splice(i, 1)
  }

  /** Null: not set. */
  at(name: string): number | null {
    const atMs = this.#named(name)?.atMs ?? Infinity
    return atMs === Infinity ? null : atMs
  }

  /** The earliest one of those with this prefix that is set at or after a time; null: none is. */
  firstFrom(prefix: string, fromMs: number): number | null {
    let firstMs = Infinity
    for (const { name, atMs } of this.#timers)
      if (atMs >= fromMs && atMs < firstMs && name.startsWith(prefix)) firstMs = atMs
    return firstMs === Infinity ? null : firstMs
  }

  /** The earliest one; null: none is set. */
  next(): { readonly name: string; readonly atMs: number } | null {
    let next: Timer | null = null
    for (const timer of this.#timers) {
      if (timer.atMs === Infinity) continue
      if (next === null || timer.atMs < next.atMs || (timer.atMs === next.atMs && timer.order < next.order))
        next = timer
    }
    return next
  }

  #named(name: string): Timer | undefined {
    for (const timer of this.#timers) if (timer.name === name) return timer
    return undefined
  }
}
