const firstCapacity = 256
const arity = 4
const fewestDeadToCompact = 1024

/**
 * What will happen, ordered by time and, at the same time, by the order of pushing: a 4-ary heap in typed arrays, the
 * items in a table beside. Cancelled items stay in the heap until they come up or outnumber the others.
 */
export class EventQueue<Item> {
  #times = new Float64Array(firstCapacity)
  #sequences = new Float64Array(firstCapacity)
  #slots = new Int32Array(firstCapacity)
  readonly #items: (Item | null)[] = []
  readonly #freeSlots: number[] = []
  #length = 0
  #dead = 0
  #lastSequence = 0
  #poppedTime = 0

  /** Items that are still to happen. */
  get size(): number {
    return this.#length - this.#dead
  }

  /** When the item that was popped last was due. */
  get poppedTime(): number {
    return this.#poppedTime
  }

  /** Everything that was pushed so far has a number up to this one. */
  get newest(): number {
    return this.#lastSequence
  }

  /** @returns a ticket for {@link cancel}, good until the item is popped. */
  push(time: number, item: Item): number {
    const slot = this.#freeSlots.pop() ?? this.#items.length
    this.#items[slot] = item
    if (this.#length === this.#times.length) this.#grow()
    this.#siftUp(this.#length++, time, ++this.#lastSequence, slot)
    return slot
  }

  /** Takes an item out that has not been popped. */
  cancel(ticket: number): void {
    if (this.#items[ticket] === null) return
    this.#items[ticket] = null
    this.#dead++
    if (this.#dead >= fewestDeadToCompact && this.#dead * 2 > this.#length) this.#compact()
  }

  /** When the next item is due; Infinity when there is none. */
  nextTime(): number {
    this.#dropDead()
    return this.#length === 0 ? Infinity : this.#times[0]!
  }

  pop(): Item | undefined {
    this.#dropDead()
    if (this.#length === 0) return undefined
    const slot = this.#slots[0]!
    const item = this.#items[slot] as Item
    this.#poppedTime = this.#times[0]!
    this.#removeFirst()
    return item
  }

  /** The next item, if it is due at that time and was pushed no later than the item with that number. */
  popDueAt(time: number, newest: number): Item | undefined {
    return this.nextTime() === time && this.#sequences[0]! <= newest ? this.pop() : undefined
  }

  #dropDead(): void {
    while (this.#length > 0 && this.#items[this.#slots[0]!] === null) {
      this.#removeFirst()
      this.#dead--
    }
  }

  #removeFirst(): void {
    const slot = this.#slots[0]!
    this.#items[slot] = null
    this.#freeSlots.push(slot)
    const last = --this.#length
    if (last > 0) this.#siftDown(0, this.#times[last]!, this.#sequences[last]!, this.#slots[last]!)
  }

  #compact(): void {
    let kept = 0
    for (let i = 0; i < this.#length; i++) {
      const slot = this.#slots[i]!
      if (this.#items[slot] === null) this.#freeSlots.push(slot)
      else {
        this.#times[kept] = this.#times[i]!
        this.#sequences[kept] = this.#sequences[i]!
        this.#slots[kept++] = slot
      }
    }
    this.#length = kept
    this.#dead = 0
    for (let i = Math.floor((kept - 2) / arity); i >= 0; i--) this.#siftDown(i, this.#times[i]!, this.#sequences[i]!, this.#slots[i]!)
  }

  #siftUp(start: number, time: number, sequence: number, slot: number): void {
    const times = this.#times
    const sequences = this.#sequences
    const slots = this.#slots
    let at = start
    while (at > 0) {
      const parent = (at - 1) >> 2
      // A new item has the largest sequence: among equals it stays behind.
      if (times[parent]! <= time) break
      times[at] = times[parent]!
      sequences[at] = sequences[parent]!
      slots[at] = slots[parent]!
      at = parent
    }
    times[at] = time
    sequences[at] = sequence
    slots[at] = slot
  }

  #siftDown(start: number, time: number, sequence: number, slot: number): void {
    const times = this.#times
    const sequences = this.#sequences
    const slots = this.#slots
    const length = this.#length
    let at = start
    for (;;) {
      const first = at * arity + 1
      if (first >= length) break
      let least = first
      let leastTime = times[first]!
      const end = Math.min(first + arity, length)
      for (let child = first + 1; child < end; child++) {
        const childTime = times[child]!
        if (childTime < leastTime || (childTime === leastTime && sequences[child]! < sequences[least]!)) {
          least = child
          leastTime = childTime
        }
      }
      if (leastTime > time || (leastTime === time && sequences[least]! > sequence)) break
      times[at] = leastTime
      sequences[at] = sequences[least]!
      slots[at] = slots[least]!
      at = least
    }
    times[at] = time
    sequences[at] = sequence
    slots[at] = slot
  }

  #grow(): void {
    const capacity = this.#times.length * 2
    const times = new Float64Array(capacity)
    const sequences = new Float64Array(capacity)
    const slots = new Int32Array(capacity)
    times.set(this.#times)
    sequences.set(this.#sequences)
    slots.set(this.#slots)
    this.#times = times
    this.#sequences = sequences
    this.#slots = slots
  }
}
