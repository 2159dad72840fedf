/** Observes reshardings: their states, and the temporary collections in which shards collect. */
import type { ClusterEvent, ReshardingEvent } from '@shardlab/cluster'
import type { ReshardingResult } from '../types.js'
import { splitNamespace, temporaryPart } from './namespace.js'

interface Resharding {
  readonly ns: string
  readonly key: string
  readonly beganMs: number
  clonedMs: number | null
  blockedAtMs: number | null
  endedMs: number | null
  isAborted: boolean
  readonly received: Map<string, number>
}

export class Reshardings {
  readonly #beginMs: number
  readonly #all: Resharding[] = []

  constructor(beginMs: number) {
    this.#beginMs = beginMs
  }

  readonly onEvent = (event: ClusterEvent): void => {
    if (event.type === 'resharding') this.#note(event)
    else if (event.type === 'collection-size' && event.ns.includes(temporaryPart)) {
      const [db] = splitNamespace(event.ns)
      const running = this.#all.find(({ ns, endedMs }) => endedMs === null && splitNamespace(ns)[0] === db)
      if (running === undefined) return
      const most = Math.max(running.received.get(event.shard) ?? 0, event.bytes)
      if (most > 0) running.received.set(event.shard, most)
    }
  }

  results(nowMs: number): ReshardingResult[] {
    return this.#all.map(({ ns, key, beganMs, clonedMs, blockedAtMs, endedMs, isAborted, received }) => ({
      ns,
      key,
      beganMs,
      endedMs,
      isAborted,
      bytes: [...received.values()].reduce((sum, bytes) => sum + bytes, 0),
      cloneMs: clonedMs === null ? null : clonedMs - beganMs,
      blockedMs: blockedAtMs === null ? 0 : (endedMs ?? nowMs - this.#beginMs) - blockedAtMs,
      receivedBytes: Object.fromEntries([...received].sort(([a], [b]) => (a < b ? -1 : 1))),
    }))
  }

  #note({ atMs, ns, key, state, durationMs }: ReshardingEvent): void {
    const now = atMs - this.#beginMs
    let running = this.#all.find((each) => each.ns === ns && each.endedMs === null)
    if (running === undefined) {
      const beganMs = now - durationMs
      running = {
        ns,
        key,
        beganMs,
        clonedMs: null,
        blockedAtMs: null,
        endedMs: null,
        isAborted: false,
        received: new Map(),
      }
      this.#all.push(running)
    }
    if (state === 'applying') running.clonedMs = now
    if (state === 'blocking-writes') running.blockedAtMs = now
    if (state === 'ended' || state === 'aborted') running.endedMs = now
    if (state === 'aborted') running.isAborted = true
  }
}
