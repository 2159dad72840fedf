import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const checkEveryMs = 2000
/** A thread that has grown less since its start is left alone. */
const growthBytesMin = 32 * 1024 * 1024
/** Share of a period in which an idle thread works. */
const idleShare = 0.05
/** Work after which a thread probably has garbage again. */
const workMs = 50
const waitMsMin = 4000
const waitMsMax = 64_000

/**
 * Collects the garbage of an idle thread. V8 collects while a thread allocates, so the memory of
 * dropped collections, closed cursors and large messages would stay until the next work arrives.
 * Collections that free little become rarer, from every 4 seconds to every 64.
 */
export class MemoryTrimmer {
  readonly #startBytes = usedBytes()
  #lastCheck: EventLoopUtilization = performance.eventLoopUtilization()
  #collectedAtMs = 0
  #workedMs = 0
  #waitMs = waitMsMin

  constructor() {
    setInterval(() => this.#check(), checkEveryMs).unref()
  }

  #check(): void {
    const now = performance.eventLoopUtilization()
    const { utilization, active } = performance.eventLoopUtilization(now, this.#lastCheck)
    this.#lastCheck = now
    this.#workedMs += active
    if (utilization > idleShare) return
    if (this.#workedMs > workMs) this.#waitMs = waitMsMin
    const before = usedBytes()
    const atMs = performance.now()
    if (before - this.#startBytes < growthBytesMin || atMs - this.#collectedAtMs < this.#waitMs) return
    collectGarbage?.()
    const freedMost = before - usedBytes() > (before - this.#startBytes) / 8
    this.#waitMs = freedMost ? waitMsMin : Math.min(this.#waitMs * 2, waitMsMax)
    this.#collectedAtMs = atMs
    this.#workedMs = 0
    this.#lastCheck = performance.eventLoopUtilization()
  }
}

function usedBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics()
  return used_heap_size + external_memory
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
