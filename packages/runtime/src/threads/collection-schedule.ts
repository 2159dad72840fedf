/** Share of a period in which an idle thread works at most. */
const idleShare = 0.1
/** Share of a period in which a thread without clients works at most. */
const restShare = 0.02
/** With less work than this, no client notices that the thread stops for a collection. */
const quietShare = 0.003
/** A collection stops the thread for about a millisecond for each megabyte in use. */
const unnoticedHeapBytesMax = 48 * 1024 * 1024
/** A larger heap takes too long to collect in one piece: V8 does it in steps. */
const busyHeapBytesMax = 64 * 1024 * 1024
/** Work after which a thread probably has garbage again. */
const workMs = 50
/** A client that has come within this time probably comes again. */
const restMs = 30_000
const waitMsMin = 4000
const waitMsMax = 64_000
/** Memory that V8 does not count: less is left until a collection has another reason. */
const uncountedBytesMin = 16 * 1024 * 1024
/**
 * Growth of the memory outside of the heap after which a busy thread collects; half of what the
 * last collection left, if that is more. V8 waits for 64 MB, and the C library keeps what it frees
 * between blocks that are in use.
 */
const busyGrowthBytesMin = 32 * 1024 * 1024

/** What a thread has done since the last check, and what it holds now. */
export interface ThreadLoad {
  readonly atMs: number
  readonly activeMs: number
  /** Share of the time since the last check. */
  readonly utilization: number
  readonly usedHeapBytes: number
  readonly externalBytes: number
  /** The heap with what V8 keeps for it, and the memory outside of it. */
  readonly heldBytes: number
}

/**
 * What to collect: `idle` and `busy` are whole collections of such a thread. `busyIfStays`: first
 * the young generation, then the whole heap if the memory outside of it is still that large.
 */
export type Due = 'no' | 'idle' | 'busy' | 'busyIfStays'

export interface CollectionScheduleOptions {
  /** A thread whose memory has grown less since its start is left alone. */
  readonly growthBytesMin: number
  /** Whether a busy thread collects, too. */
  readonly whenBusy: boolean
  readonly startBytes: number
}

/**
 * Decides when a thread collects garbage. A collection has a price beside its time: V8 discards the
 * optimized code of about a hundred functions, because none of the objects that it was made for is
 * left, and the next second of work takes three times the CPU. So a thread collects when it has
 * rested, and at once only when much memory was released. Collections that free little become
 * rarer, from every 4 seconds to every 64.
 */
export class CollectionSchedule {
  readonly #options: CollectionScheduleOptions
  #collectedAtMs = 0
  #workedMs = 0
  #restsSinceMs = 0
  #waitMs = waitMsMin
  #uncountedBytes = 0
  /** The least memory outside of the heap since the last collection. */
  #externalBytes = Number.POSITIVE_INFINITY

  constructor(options: CollectionScheduleOptions) {
    this.#options = options
  }

  /** Shared memory that the thread no longer uses: V8 does not count it as garbage. */
  released(bytes: number): void {
    this.#uncountedBytes += bytes
  }

  /** @returns whether the thread is idle after work */
  observe({ atMs, activeMs, utilization }: ThreadLoad): boolean {
    this.#workedMs += activeMs
    if (utilization > restShare) this.#restsSinceMs = atMs
    if (utilization > idleShare || this.#workedMs <= workMs) return false
    this.#waitMs = waitMsMin
    return true
  }

  /** After {@link observe} of the same load. */
  due(load: ThreadLoad): Due {
    const isNoticed = load.utilization > quietShare && load.usedHeapBytes > unnoticedHeapBytesMax
    if (load.utilization > idleShare || isNoticed) return this.#dueWhenBusy(load)
    if (this.#uncountedBytes >= uncountedBytesMin) return 'idle'
    const { atMs, heldBytes } = load
    const { growthBytesMin, startBytes } = this.#options
    if (atMs - this.#restsSinceMs < restMs || atMs - this.#collectedAtMs < this.#waitMs) return 'no'
    return heldBytes - startBytes < growthBytesMin ? 'no' : 'idle'
  }

  /** Whether the memory outside of the heap has grown much since the last collection. */
  hasGrownOutside(externalBytes: number): boolean {
    this.#externalBytes = Math.min(this.#externalBytes, externalBytes)
    return externalBytes - this.#externalBytes > Math.max(busyGrowthBytesMin, this.#externalBytes / 2)
  }

  /** A collection of a busy thread. */
  collectedBusy(externalBytes: number): void {
    this.#uncountedBytes = 0
    this.#externalBytes = externalBytes
  }

  /** A collection of an idle thread. */
  collectedIdle(before: ThreadLoad, after: { readonly heldBytes: number; readonly externalBytes: number }): void {
    const freedMost = before.heldBytes - after.heldBytes > (before.heldBytes - this.#options.startBytes) / 8
    this.#waitMs = freedMost ? waitMsMin : Math.min(this.#waitMs * 2, waitMsMax)
    this.#collectedAtMs = before.atMs
    this.#workedMs = 0
    this.collectedBusy(after.externalBytes)
  }

  #dueWhenBusy({ usedHeapBytes, externalBytes }: ThreadLoad): Due {
    if (!this.#options.whenBusy || usedHeapBytes > busyHeapBytesMax) return 'no'
    if (this.#uncountedBytes >= uncountedBytesMin) return 'busy'
    return this.hasGrownOutside(externalBytes) ? 'busyIfStays' : 'no'
  }
}
