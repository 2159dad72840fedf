import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const checkEveryMs = 2000
/** Share of a period in which an idle thread works. */
const idleShare = 0.05
/** Work after which a thread probably has garbage again. */
const workMs = 50
const waitMsMin = 4000
const waitMsMax = 64_000
/** Memory that V8 does not count: less is left until a collection has another reason. */
const uncountedBytesMin = 1024 * 1024

export interface MemoryTrimmerOptions {
  /** A thread whose memory has grown less since its start is left alone. */
  readonly growthBytesMin: number
  /** Called once the thread is idle after work, before garbage is collected. */
  readonly onIdle?: () => void
}

/**
 * Collects the garbage of an idle thread. V8 collects while a thread allocates, so the memory of
 * dropped collections, closed cursors and large messages would stay until the next work arrives.
 * Collections that free little become rarer, from every 4 seconds to every 64.
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
    if (utilization > idleShare) return
    if (this.#workedMs > workMs) {
      this.#waitMs = waitMsMin
      this.#options.onIdle?.()
    }
    const atMs = performance.now()
    if (this.#uncountedBytes < uncountedBytesMin) {
      const hasGrown = heldBytes() - this.#startBytes >= this.#options.growthBytesMin
      if (!hasGrown || atMs - this.#collectedAtMs < this.#waitMs) return
    }
    this.#collect(atMs)
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
const collectGarbage = ((): (() => void) | undefined => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('globalThis.gc') as (() => void) | undefined
  if (!process.execArgv.includes('--expose-gc')) setFlagsFromString('--no-expose-gc')
  return collect
})()
