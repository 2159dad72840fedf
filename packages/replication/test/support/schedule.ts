interface Event {
  readonly atMs: number
  readonly order: number
  readonly run: () => void
}

/** Events in the order of their virtual time; equal times in the order they were added. */
export class Schedule {
  nowMs = 0
  #order = 0
  readonly #heap: Event[] = []

  after(delayMs: number, run: () => void): void {
    const heap = this.#heap
    heap.push({ atMs: this.nowMs + delayMs, order: this.#order++, run })
    for (let i = heap.length - 1; i > 0;) {
      const parent = (i - 1) >> 1
      if (!before(heap[i]!, heap[parent]!)) break
      ;[heap[i], heap[parent]] = [heap[parent]!, heap[i]!]
      i = parent
    }
  }

  runUntil(endMs: number): void {
    for (let first = this.#heap[0]; first !== undefined && first.atMs <= endMs; first = this.#heap[0]) {
      this.#removeFirst()
      this.nowMs = first.atMs
      first.run()
    }
    this.nowMs = endMs
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()!
    if (heap.length === 0) return
    heap[0] = last
    for (let i = 0; ;) {
      const left = 2 * i + 1
      const right = left + 1
      let least = i
      if (left < heap.length && before(heap[left]!, heap[least]!)) least = left
      if (right < heap.length && before(heap[right]!, heap[least]!)) least = right
      if (least === i) return
      ;[heap[i], heap[least]] = [heap[least]!, heap[i]!]
      i = least
    }
  }
}

const before = (a: Event, b: Event): boolean => (a.atMs === b.atMs ? a.order < b.order : a.atMs < b.atMs)
