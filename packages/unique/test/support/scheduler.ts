/** Interleaves clients and makes them fail, one port operation at a time, as a chooser decides. */
import { PortError, type Clock, type Fields, type PortOptions, type ReadablePort } from '@shardlab/unique'
import type { MemoryCollection } from './memory.js'

/** Without scheduling: every operation takes effect at once. */
export function directPort(collection: MemoryCollection): ReadablePort {
  return {
    insertOne: async (document) => collection.insertOne(document),
    findOne: async (filter, options) => collection.findOne(filter, options),
    updateOne: async (filter, update, options) => collection.updateOne(filter, update, options),
    deleteOne: async (filter, options) => collection.deleteOne(filter, options),
    findOneAndUpdate: async (filter, update, options) => collection.findOneAndUpdate(filter, update, options),
    async *find(filter) {
      yield* collection.find(filter)
    },
  }
}

/**
 * - `run`: the operation takes effect and is answered.
 * - `crash before`, `crash after`: its client stops, before or after it takes effect.
 * - `lost request`, `lost answer`: its client gets no answer; it did not take effect, or it did.
 * - `refused`: it does not take effect, and its client gets the error; for the main collection's
 *   writes only.
 * - `stall`: all reservations expire before it takes effect.
 */
export type Fate = 'run' | 'crash before' | 'crash after' | 'lost request' | 'lost answer' | 'refused' | 'stall'

interface Pending {
  readonly client: string
  readonly operation: string
  readonly isMainWrite: boolean
  readonly apply: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

interface Sleeper {
  readonly client: string
  readonly wakeAtMs: number
  readonly wake: () => void
}

/** Returns a number below `count`. */
export type Choose = (count: number) => number

export interface Turns {
  readonly choose: Choose
  /** `faults` is the number in total. */
  readonly fates: readonly Fate[]
  readonly faults: number
  readonly expireMs: number
}

export class Scheduler {
  nowMs = 1_000_000
  readonly trace: string[] = []
  readonly crashed = new Set<string>()
  #faultsLeft = 0
  #pending: Pending[] = []
  #sleepers: Sleeper[] = []
  readonly #sequences = new Map<string, number>()

  port(client: string, collection: MemoryCollection, isMain: boolean): ReadablePort {
    const call = <T>(operation: string, writes: boolean, apply: () => T): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        if (this.crashed.has(client)) return
        this.#pending.push({
          client,
          operation: `${client} ${collection.name}.${operation}`,
          isMainWrite: isMain && writes,
          apply,
          resolve: resolve as (value: unknown) => void,
          reject,
        })
      })
    return {
      insertOne: (document) => call('insertOne', true, () => collection.insertOne(document)),
      findOne: (filter, options?: PortOptions) => call('findOne', false, () => collection.findOne(filter, options)),
      updateOne: (filter, update, options) =>
        call('updateOne', true, () => collection.updateOne(filter, update, options)),
      deleteOne: (filter, options) => call('deleteOne', true, () => collection.deleteOne(filter, options)),
      findOneAndUpdate: (filter, update, options) =>
        call('findOneAndUpdate', true, () => collection.findOneAndUpdate(filter, update, options)),
      async *find(filter) {
        yield* await call<Fields[]>('find', false, () => collection.find(filter))
      },
    }
  }

  /** Without scheduling: sleeping only advances the virtual time. */
  directClock(): Clock {
    return { now: () => this.nowMs, sleep: async (durationMs) => void (this.nowMs += durationMs) }
  }

  clock(client: string): Clock {
    return {
      now: () => this.nowMs,
      sleep: (durationMs) =>
        new Promise((resolve) => {
          if (!this.crashed.has(client))
            this.#sleepers.push({ client, wakeAtMs: this.nowMs + durationMs, wake: resolve })
        }),
    }
  }

  newToken(client = 'direct'): string {
    const number = (this.#sequences.get(client) ?? 0) + 1
    this.#sequences.set(client, number)
    return `token ${number} of ${client}`
  }

  async play(work: readonly Promise<unknown>[], { choose, fates, faults, expireMs }: Turns): Promise<void> {
    this.#faultsLeft = faults
    let running = work.length
    for (const each of work) {
      void each.then(
        () => running--,
        () => running--,
      )
    }
    for (;;) {
      await this.#settled()
      if (this.#pending.length === 0) {
        if (!this.#wakeNext()) return
        continue
      }
      const options = this.#pending.flatMap((pending) =>
        (this.#faultsLeft > 0 ? fates : (['run'] as const))
          .filter((fate) => fate !== 'refused' || pending.isMainWrite)
          // The protocol cannot guard against a write that arrives after its reservations expired.
          .filter((fate) => fate !== 'stall' || !this.#pending.some(({ isMainWrite }) => isMainWrite))
          .map((fate) => ({ pending, fate })),
      )
      const { pending, fate } = options[options.length === 1 ? 0 : choose(options.length)]!
      this.#pending.splice(this.#pending.indexOf(pending), 1)
      this.trace.push(fate === 'run' ? pending.operation : `${pending.operation} (${fate})`)
      if (fate !== 'run') this.#faultsLeft--
      this.#meet(pending, fate, expireMs)
    }
  }

  /** Waits until every client waits for an operation. */
  async #settled(): Promise<void> {
    for (let i = 0; i < 100; i++) await Promise.resolve()
    // Longer promise chains are rare, and a turn of the event loop is expensive.
    if (this.#pending.length === 0) await new Promise((resolve) => setImmediate(resolve))
  }

  #meet(pending: Pending, fate: Fate, expireMs: number): void {
    if (fate === 'crash before' || fate === 'lost request') {
      if (fate === 'crash before') this.#crash(pending.client)
      else pending.reject(new PortError('unknown', 'no answer'))
      return
    }
    if (fate === 'refused') return pending.reject(new PortError('refused', 'not valid'))
    if (fate === 'stall') this.nowMs += expireMs
    let outcome: { value: unknown } | { error: unknown }
    try {
      outcome = { value: pending.apply() }
    } catch (error) {
      outcome = { error }
    }
    if (fate === 'crash after') this.#crash(pending.client)
    else if (fate === 'lost answer') pending.reject(new PortError('unknown', 'no answer'))
    else if ('error' in outcome) pending.reject(outcome.error)
    else pending.resolve(outcome.value)
  }

  #crash(client: string): void {
    this.crashed.add(client)
    this.#pending = this.#pending.filter((pending) => pending.client !== client)
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.client !== client)
  }

  #wakeNext(): boolean {
    const next = this.#sleepers.toSorted((a, b) => a.wakeAtMs - b.wakeAtMs)[0]
    if (next === undefined) return false
    this.#sleepers.splice(this.#sleepers.indexOf(next), 1)
    this.nowMs = Math.max(this.nowMs, next.wakeAtMs)
    next.wake()
    return true
  }
}

/** Plays every sequence of choices, depth first. @returns the number of sequences */
export async function everySchedule(play: (choose: Choose) => Promise<void>, maxRuns = Infinity): Promise<number> {
  const path: { choice: number; count: number }[] = []
  for (let played = 1; ; played++) {
    let depth = 0
    await play((count) => {
      if (depth === path.length) path.push({ choice: 0, count })
      return path[depth++]!.choice
    })
    while (path.length > 0 && path.at(-1)!.choice + 1 === path.at(-1)!.count) path.pop()
    if (path.length === 0 || played >= maxRuns) return played
    path.at(-1)!.choice++
  }
}
