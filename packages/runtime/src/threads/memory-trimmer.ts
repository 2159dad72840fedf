import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { CollectionSchedule, type ThreadLoad } from './collection-schedule.js'

const checkEveryMs = 1000

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
 * Collects the garbage of a thread without clients. V8 collects while a thread allocates, so the
 * memory of dropped collections, closed cursors and large messages would stay until the next work
 * arrives. A busy thread with a heap of medium size collects when the memory outside of its heap
 * has grown much, because that may be garbage.
 */
export class MemoryTrimmer {
  readonly #onIdle: (() => void) | undefined
  readonly #schedule: CollectionSchedule
  readonly #timer: NodeJS.Timeout
  #lastCheck: EventLoopUtilization = performance.eventLoopUtilization()

  constructor({ growthBytesMin, whenBusy = false, onIdle }: MemoryTrimmerOptions) {
    this.#onIdle = onIdle
    this.#schedule = new CollectionSchedule({ growthBytesMin, whenBusy, startBytes: held().heldBytes })
    this.#timer = setInterval(() => this.#check(), checkEveryMs).unref()
  }

  /** Shared memory that this thread no longer uses: V8 does not count it as garbage. */
  released(bytes: number): void {
    this.#schedule.released(bytes)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #check(): void {
    const now = performance.eventLoopUtilization()
    const { utilization, active: activeMs } = performance.eventLoopUtilization(now, this.#lastCheck)
    this.#lastCheck = now
    const load = { atMs: performance.now(), activeMs, utilization, ...held() }
    if (this.#schedule.observe(load)) this.#onIdle?.()
    const due = this.#schedule.due(load)
    if (due === 'idle') this.#collectIdle(load)
    else if (due !== 'no') this.#collectBusy(due === 'busyIfStays')
  }

  #collectBusy(ifStays: boolean): void {
    if (ifStays) {
      collectGarbage?.({ type: 'minor' })
      if (!this.#schedule.hasGrownOutside(getHeapStatistics().external_memory)) return
    }
    collectGarbage?.()
    this.#schedule.collectedBusy(getHeapStatistics().external_memory)
  }

  #collectIdle(load: ThreadLoad): void {
    // A collection leaves the memory of buffers to be freed by the next one.
    collectGarbage?.()
    collectGarbage?.()
    this.#schedule.collectedIdle(load, held())
    this.#lastCheck = performance.eventLoopUtilization()
  }
}

function held(): Pick<ThreadLoad, 'usedHeapBytes' | 'externalBytes' | 'heldBytes'> {
  const { used_heap_size, total_heap_size, external_memory } = getHeapStatistics()
  return {
    usedHeapBytes: used_heap_size,
    externalBytes: external_memory,
    heldBytes: total_heap_size + external_memory,
  }
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
