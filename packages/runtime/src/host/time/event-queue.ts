const firstCapacity = 256
const arity = 4
const fewestDeadToCompact = 1024
const recentCount = 4

/** Can be in one {@link EventQueue} at a time. */
export interface Queued<Item> {
  /** The group's number in the queue; -1: in no queue. */
  group: number
  previous: Item | null
  next: Item | null
}

/**
 * Events ordered by time and, at the same time, by the order of pushing.
 *
 * Many members do the same things at the same instants, so the events of one time form a group, a
 * linked list. The groups are in a 4-ary heap of typed arrays. An empty group stays until it is the
 * first one, or until empty groups outnumber the others.
 */
export class EventQueue<Item extends Queued<Item>> {
  #times = new Float64Array(firstCapacity)
  #sequences = new Float64Array(firstCapacity)
  #groups = new Int32Array(firstCapacity)
  /** By the group's number; null: the group is empty. */
  readonly #firsts: (Item | null)[] = []
  readonly #lasts: (Item | null)[] = []
  readonly #freeGroups: number[] = []
  /**
   * The most recently created groups. A time no longer listed gets a new group, ordered after its
   * earlier one.
   */
  readonly #recentTimes = new Float64Array(recentCount).fill(NaN)
  readonly #recentGroups = new Int32Array(recentCount)
  #oldestRecent = 0
  #length = 0
  #dead = 0
  #size = 0
  #lastSequence = 0
  #poppedTime = 0

  get size(): number {
    return this.#size
  }

  get poppedTime(): number {
    return this.#poppedTime
  }

  /** The item must not be in any queue. */
  push(time: number, item: Item): void {
    const recent = this.#recentAt(time)
    const group = recent < 0 ? this.#addGroup(time) : this.#recentGroups[recent]!
    const last = this.#lasts[group]!
    if (last === null) {
      this.#firsts[group] = item
      if (recent >= 0) this.#dead--
    } else {
      last.next = item
      item.previous = last
    }
    this.#lasts[group] = item
    item.group = group
    this.#size++
  }

  /** No error when the item is in no queue. */
  cancel(item: Item): void {
    const { group } = item
    if (group < 0) return
    this.#takeOut(item, group)
    if (this.#firsts[group] === null) this.#dead++
    if (this.#dead >= fewestDeadToCompact && this.#dead * 2 > this.#length) this.#compact()
  }

  /** Infinity: no item is queued. */
  nextTime(): number {
    this.#dropDead()
    return this.#length === 0 ? Infinity : this.#times[0]!
  }

  pop(): Item | undefined {
    this.#dropDead()
    if (this.#length === 0) return undefined
    const group = this.#groups[0]!
    const item = this.#firsts[group]!
    this.#poppedTime = this.#times[0]!
    this.#takeOut(item, group)
    if (this.#firsts[group] === null) this.#removeFirst()
    return item
  }

  /**
   * A mark after everything that has been pushed so far: later items are after it, even at the time
   * of the next item.
   */
  mark(): number {
    this.#closeGroup(this.nextTime())
    return this.#lastSequence
  }

  /** The item must have been pushed before the mark. */
  popDueAt(time: number, mark: number): Item | undefined {
    return this.nextTime() === time && this.#sequences[0]! <= mark ? this.pop() : undefined
  }

  #takeOut(item: Item, group: number): void {
    const { previous, next } = item
    if (previous === null) this.#firsts[group] = next
    else previous.next = next
    if (next === null) this.#lasts[group] = previous
    else next.previous = previous
    item.group = -1
    item.previous = null
    item.next = null
    this.#size--
  }

  #addGroup(time: number): number {
    const group = this.#freeGroups.pop() ?? this.#firsts.length
    this.#firsts[group] = null
    this.#lasts[group] = null
    if (this.#length === this.#times.length) this.#grow()
    this.#siftUp(this.#length++, time, ++this.#lastSequence, group)
    this.#recentTimes[this.#oldestRecent] = time
    this.#recentGroups[this.#oldestRecent] = group
    this.#oldestRecent = (this.#oldestRecent + 1) % recentCount
    return group
  }

  #recentAt(time: number): number {
    for (let i = 0; i < recentCount; i++) if (this.#recentTimes[i] === time) return i
    return -1
  }

  /** The next item that is pushed for that time starts a new group. */
  #closeGroup(time: number): void {
    const recent = this.#recentAt(time)
    if (recent >= 0) this.#recentTimes[recent] = NaN
  }

  #dropDead(): void {
    while (this.#length > 0 && this.#firsts[this.#groups[0]!] === null) {
      this.#removeFirst()
      this.#dead--
    }
  }

  #removeFirst(): void {
    this.#closeGroup(this.#times[0]!)
    this.#freeGroups.push(this.#groups[0]!)
    const last = --this.#length
    if (last > 0) this.#siftDown(0, this.#times[last]!, this.#sequences[last]!, this.#groups[last]!)
  }

  #compact(): void {
    this.#recentTimes.fill(NaN)
    let kept = 0
    for (let i = 0; i < this.#length; i++) {
      const group = this.#groups[i]!
      if (this.#firsts[group] === null) this.#freeGroups.push(group)
      else {
        this.#times[kept] = this.#times[i]!
        this.#sequences[kept] = this.#sequences[i]!
        this.#groups[kept++] = group
      }
    }
    this.#length = kept
    this.#dead = 0
    for (let i = Math.floor((kept - 2) / arity); i >= 0; i--)
      this.#siftDown(i, this.#times[i]!, this.#sequences[i]!, this.#groups[i]!)
  }

  #siftUp(start: number, time: number, sequence: number, group: number): void {
    const times = this.#times
    const sequences = this.#sequences
    const groups = this.#groups
    let at = start
    while (at > 0) {
      const parent = (at - 1) >> 2
      // A new group has the largest sequence, so it stays after others of the same time.
      if (times[parent]! <= time) break
      times[at] = times[parent]!
      sequences[at] = sequences[parent]!
      groups[at] = groups[parent]!
      at = parent
    }
    times[at] = time
    sequences[at] = sequence
    groups[at] = group
  }

  #siftDown(start: number, time: number, sequence: number, group: number): void {
    const times = this.#times
    const sequences = this.#sequences
    const groups = this.#groups
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
      groups[at] = groups[least]!
      at = least
    }
    times[at] = time
    sequences[at] = sequence
    groups[at] = group
  }

  #grow(): void {
    const capacity = this.#times.length * 2
    const times = new Float64Array(capacity)
    const sequences = new Float64Array(capacity)
    const groups = new Int32Array(capacity)
    times.set(this.#times)
    sequences.set(this.#sequences)
    groups.set(this.#groups)
    this.#times = times
    this.#sequences = sequences
    this.#groups = groups
  }
}
