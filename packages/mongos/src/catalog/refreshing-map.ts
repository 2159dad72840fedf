/**
 * Values that are fetched on demand and kept until a caller marks them as stale. Concurrent callers
 * share one fetch, also a caller that marks a value as stale during the fetch: if that fetch read
 * the old state, the caller's next attempt reports it again. The result of a fetch is dropped if
 * the value was set or forgotten after the fetch began.
 */
interface Slot<T> {
  value: T | undefined
  fresh: boolean
  /** Counts changes other than by fetches. */
  changeCount: number
  fetching: Promise<void> | null
}

export interface RefreshingMapOptions<T> {
  /** @param known the previous value, as a base for an incremental fetch */
  fetch(name: string, known: T | undefined): Promise<T>
  readonly entriesMax: number
  onLimit(): void
}

export type KnownValues<T> = readonly { readonly name: string; readonly value: T; readonly fresh: boolean }[]

export class RefreshingMap<T> {
  readonly #slots = new Map<string, Slot<T>>()
  readonly #options: RefreshingMapOptions<T>
  fetchCount = 0

  constructor(options: RefreshingMapOptions<T>) {
    this.#options = options
  }

  get size(): number {
    return this.#slots.size
  }

  /** Undefined: missing or stale. */
  peek(name: string): T | undefined {
    const slot = this.#slots.get(name)
    return slot?.fresh === true ? slot.value : undefined
  }

  /** @throws what the fetch throws; the next caller fetches again */
  async get(name: string): Promise<T> {
    for (;;) {
      const slot = this.#slot(name)
      if (slot.fresh) return slot.value as T
      slot.fetching ??= this.#fetch(name, slot)
      await slot.fetching
    }
  }

  /** Has no effect if a newer value is present or being fetched. */
  markStale(name: string, used: T | undefined): void {
    const slot = this.#slots.get(name)
    if (slot?.fresh === true && slot.value === used) slot.fresh = false
  }

  set(name: string, value: T): void {
    const slot = this.#slot(name)
    slot.value = value
    slot.fresh = true
    slot.changeCount++
  }

  /** The next fetch starts without a base. */
  forget(name: string): void {
    const slot = this.#slots.get(name)
    if (slot === undefined) return
    slot.value = undefined
    slot.fresh = false
    slot.changeCount++
  }

  forgetAll(): void {
    for (const name of this.#slots.keys()) this.forget(name)
  }

  names(): IterableIterator<string> {
    return this.#slots.keys()
  }

  export(): KnownValues<T> {
    return [...this.#slots].flatMap(([name, { value, fresh }]) => (value === undefined ? [] : [{ name, value, fresh }]))
  }

  import(known: KnownValues<T>): void {
    for (const { name, value, fresh } of known) this.#slots.set(name, { value, fresh, changeCount: 0, fetching: null })
  }

  #slot(name: string): Slot<T> {
    let slot = this.#slots.get(name)
    if (slot === undefined) {
      if (this.#slots.size >= this.#options.entriesMax) {
        this.#slots.delete(this.#slots.keys().next().value!)
        this.#options.onLimit()
      }
      slot = { value: undefined, fresh: false, changeCount: 0, fetching: null }
      this.#slots.set(name, slot)
    }
    return slot
  }

  async #fetch(name: string, slot: Slot<T>): Promise<void> {
    const { changeCount } = slot
    this.fetchCount++
    try {
      const value = await this.#options.fetch(name, slot.value)
      if (slot.changeCount === changeCount) {
        slot.value = value
        slot.fresh = true
      }
    } finally {
      slot.fetching = null
    }
  }
}
