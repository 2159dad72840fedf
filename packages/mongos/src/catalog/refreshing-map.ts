/**
 * Values by name that are fetched when they are asked for, kept until somebody finds them stale, and fetched once
 * however many wait. Who finds a value stale while it is being fetched waits for that fetch: should it have read the old
 * state still, the next attempt finds out. A fetch that began before a value was set or forgotten does not count.
 */
interface Slot<T> {
  value: T | undefined
  fresh: boolean
  /** Grows with each change that no fetch made. */
  changeCount: number
  fetching: Promise<void> | null
}

export interface RefreshingMapOptions<T> {
  /** Gets the value anew; `known` is what was known, to build on. */
  fetch(name: string, known: T | undefined): Promise<T>
  readonly entriesMax: number
  /** Called when an entry had to go for a new one. */
  onLimit(): void
}

/** Values by name; whether somebody has found them stale. */
export type KnownValues<T> = readonly { readonly name: string; readonly value: T; readonly fresh: boolean }[]

export class RefreshingMap<T> {
  readonly #slots = new Map<string, Slot<T>>()
  readonly #options: RefreshingMapOptions<T>
  /** Fetches so far. */
  fetchCount = 0

  constructor(options: RefreshingMapOptions<T>) {
    this.#options = options
  }

  get size(): number {
    return this.#slots.size
  }

  /** The value if it is known and not stale. */
  peek(name: string): T | undefined {
    const slot = this.#slots.get(name)
    return slot?.fresh === true ? slot.value : undefined
  }

  /** @throws whatever the fetch throws; the next caller fetches again. */
  async get(name: string): Promise<T> {
    for (;;) {
      const slot = this.#slot(name)
      if (slot.fresh) return slot.value as T
      slot.fetching ??= this.#fetch(name, slot)
      await slot.fetching
    }
  }

  /** Says that `used` led astray. Nothing happens when a newer value is known or on its way. */
  markStale(name: string, used: T | undefined): void {
    const slot = this.#slots.get(name)
    if (slot?.fresh === true && slot.value === used) slot.fresh = false
  }

  /** Takes over a value that came by another way. */
  set(name: string, value: T): void {
    const slot = this.#slot(name)
    slot.value = value
    slot.fresh = true
    slot.changeCount++
  }

  /** Forgets a value, so that the next fetch builds on nothing. */
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

  /** Every value that is known, stale ones among them. */
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
