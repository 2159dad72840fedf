import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const checkEveryMs = 1000
/** Share of a period in which an idle thread works at most. */
const idleShare = 0.1
/** With less work than this, no client notices that the thread stops for a collection. */
const quietShare = 0.003
/** A collection stops the thread for about a millisecond for each megabyte in use. */
const unnoticedHeapBytesMax = 48 * 1024 * 1024
/** Work after which a thread probably has garbage again. */
const workMs = 50
const waitMsMin = 4000
const waitMsMax = 64_000
/** Memory that V8 does not count: less is left until a collection has another reason. */
const uncountedBytesMin = 1024 * 1024
/**
 * Growth of the memory outside of the heap after which a busy thread collects; half of what the
 * last collection left, if that is more. V8 waits for 64 MB, and the C library keeps what it frees
 * between blocks that are in use.
 */
const busyGrowthBytesMin = 8 * 1024 * 1024
/** A larger heap takes too long to collect in one piece: V8 does it in steps. */
const busyHeapBytesMax = 64 * 1024 * 1024

type GarbageCollection = (options?: { readonly type: 'minor' }) => void

export interface MemoryTrimmerOptions {
  /** A thread whose memory has grown less since its start is left alone. */
  readonly growthBytesMin: number
  /** Whether a busy thread collects, too. Default false. */
  readonly whenBusy?: boolean
  /** Called once the thread is idle after work, before garbage is collected. */
  readonly onIdle?: () => void
}

/**
 * Collects the garbage of an idle thread, and of one with a large heap only when it hardly works.
 * V8 collects while a thread allocates, so the memory of dropped collections, closed cursors and
 * large messages would stay until the next work arrives. Collections that free little become rarer,
 * from every 4 seconds to every 64.
 *
 * Other threads with a heap of medium size collect when much memory outside of it may be garbage.
 */
export class MemoryTrimmer {
  readonly #options: MemoryTrimmerOptions
  readonly #startBytes = heldBytes()
  readonly #timer: NodeJS.Timeout
  #lastCheck: EventLoopUtilization = performance.eventLoopUtilization()
  #collectedAtMs = 0
  #workedMs = 0
  #waitMs = waitMsMin
  #uncountedBytes = 0
  /** The least memory outside of the heap since the last collection. */
  #externalBytes = Number.POSITIVE_INFINITY

  constructor(options: MemoryTrimmerOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#check(), checkEveryMs).unref()
  }

  /** Shared memory that this thread no longer uses: V8 does not count it as garbage. */
  released(bytes: number): void {
    this.#uncountedBytes += bytes
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #check(): void {
    const now = performance.eventLoopUtilization()
    const { utilization, active } = performance.eventLoopUtilization(now, this.#lastCheck)
    this.#lastCheck = now
    this.#workedMs += active
    if (utilization > idleShare) return this.#checkBusy()
    if (this.#workedMs > workMs) {
      this.#waitMs = waitMsMin
      this.#options.onIdle?.()
    }
    if (utilization > quietShare && getHeapStatistics().used_heap_size > unnoticedHeapBytesMax) return this.#checkBusy()
    const atMs = performance.now()
    if (this.#uncountedBytes < uncountedBytesMin) {
      const hasGrown = heldBytes() - this.#startBytes >= this.#options.growthBytesMin
      if (!hasGrown || atMs - this.#collectedAtMs < this.#waitMs) return
    }
    this.#collect(atMs)
  }

  #checkBusy(): void {
    if (this.#options.whenBusy !== true) return
    const hasReleased = this.#uncountedBytes >= uncountedBytesMin
    if (!hasReleased && !this.#hasGrownOutside()) return
    if (getHeapStatistics().used_heap_size > busyHeapBytesMax) return
    if (!hasReleased) {
      collectGarbage?.({ type: 'minor' })
      if (!this.#hasGrownOutside()) return
    }
    collectGarbage?.()
    this.#uncountedBytes = 0
    this.#externalBytes = getHeapStatistics().external_memory
  }

  #hasGrownOutside(): boolean {
    const { external_memory } = getHeapStatistics()
    this.#externalBytes = Math.min(this.#externalBytes, external_memory)
    return external_memory - this.#externalBytes > Math.max(busyGrowthBytesMin, this.#externalBytes / 2)
  }

  #collect(atMs: number): void {
    const before = heldBytes()
    // A collection leaves the memory of buffers to be freed by the next one.
    collectGarbage?.()
    collectGarbage?.()
    const freedMost = before - heldBytes() > (before - this.#startBytes) / 8
    this.#waitMs = freedMost ? waitMsMin : Math.min(this.#waitMs * 2, waitMsMax)
    this.#collectedAtMs = atMs
    this.#workedMs = 0
    this.#uncountedBytes = 0
    this.#externalBytes = getHeapStatistics().external_memory
    this.#lastCheck = performance.eventLoopUtilization()
  }
}

function heldBytes(): number {
  const { total_heap_size, external_memory } = getHeapStatistics()
  return total_heap_size + external_memory
}

/**
 * Undefined: this Node.js does not offer it. The flag is taken back, because V8 refuses a code
 * cache that was made with other flags.
 */
const collectGarbage = ((): GarbageCollection | undefined => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('globalThis.gc') as GarbageCollection | undefined
  if (!process.execArgv.includes('--expose-gc')) setFlagsFromString('--no-expose-gc')
  return collect
})()
