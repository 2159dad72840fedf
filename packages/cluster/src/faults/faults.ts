/** The faults of one cluster: applied, listed and healed, at once or by a schedule. */
import type { Address } from '@shardlab/actor'
import type { Alarm, Runtime } from '@shardlab/runtime'
import { OptionError } from '../option-error.js'
import { begin, type FaultWorld, type ResolvedFault, type RunningFault } from './effects.js'
import { formatFault } from './grammar.js'
import { parseFault } from './parse.js'
import { checkState, resolveFault } from './resolve.js'
import type { FaultInput, FaultSpec } from './schema.js'

/** A fault that has been applied and not healed. */
export interface AppliedFault {
  readonly id: number
  /** As the grammar writes it. */
  readonly fault: string
  readonly spec: FaultSpec
  /** `scheduled`: it has not begun; `exhausted`: it has struck as often as it may, and what it holds it still holds. */
  readonly state: 'scheduled' | 'active' | 'exhausted'
  /** When it began or will begin, in milliseconds since the epoch of the cluster's clock. */
  readonly beginsAtMs: number
  /** When it heals itself; null: it does not. */
  readonly healsAtMs: number | null
  /** How often it has struck; null: it is not counted. */
  readonly strikes: number | null
}

interface Entry {
  readonly id: number
  readonly resolved: ResolvedFault
  readonly beginsAtMs: number
  readonly healsAtMs: number | null
  alarm: Alarm | null
  running: RunningFault | null
}

/** How long a member stays stepped down unless told otherwise. */
const stepDownMs = 10_000

/** These keep a member down. */
const downVerbs: ReadonlySet<string> = new Set(['crash', 'destroy', 'stop'])
const endsProcess: ReadonlySet<string> = new Set([...downVerbs, 'restart'])

export interface FaultsOptions {
  readonly networkTimeoutMs: number
  /** Starts a member that is down again. Default: the runtime does. */
  readonly restart?: FaultWorld['restart']
}

/** Everything that is broken on purpose. */
export class Faults {
  readonly #runtime: Runtime
  readonly #world: FaultWorld
  readonly #entries = new Map<number, Entry>()
  #lastId = 0

  constructor(runtime: Runtime, { networkTimeoutMs, restart = (member) => runtime.background.restart(member) }: FaultsOptions) {
    this.#runtime = runtime
    this.#world = { runtime, networkTimeoutMs, restart, resume: (member) => this.#healWhere((spec) => spec.verb === 'pause', member) }
  }

  /**
   * Applies a fault, given as text (`crash shard02 for 5s`) or as data (`{ verb: 'crash', target: 'shard02', for: '5s' }`). Resolves once it is
   * at work, or has been scheduled.
   * @throws OptionError one sentence: the fault is not understood, or names a member, link or step that does not exist
   */
  apply(fault: FaultInput | string): Promise<{ id: number }> {
    return this.#runtime.during(this.applyInBackground(fault))
  }

  /** Every fault that is at work or scheduled, in the order in which they were applied. */
  list(): AppliedFault[] {
    return [...this.#entries.values()].map(({ id, resolved: { spec }, beginsAtMs, healsAtMs, running }) => {
      const strikes = running?.strikes() ?? null
      const isExhausted = 'first' in spec && spec.first !== undefined && strikes !== null && strikes >= spec.first
      const state = running === null ? 'scheduled' : isExhausted ? 'exhausted' : 'active'
      return { id, fault: formatFault(spec), spec, state, beginsAtMs, healsAtMs, strikes }
    })
  }

  /**
   * Heals a fault, or all: members that were down run again, links work, who was held goes on. Resolves with the ids of those healed.
   * @throws OptionError when there is no such fault
   */
  heal(id?: number): Promise<number[]> {
    return this.#runtime.during(this.healInBackground(id))
  }

  /** {@link apply} for one who lets time pass by itself. */
  async applyInBackground(fault: FaultInput | string): Promise<{ id: number }> {
    const spec = await parseFault(fault)
    const resolved = resolveFault(spec, this.#runtime.members())
    const lastsMs = spec.for ?? (spec.verb === 'stepDown' ? stepDownMs : undefined)
    const beginsAtMs = this.#runtime.now() + (spec.after ?? 0)
    const entry: Entry = {
      id: ++this.#lastId,
      resolved,
      beginsAtMs,
      healsAtMs: lastsMs === undefined ? null : beginsAtMs + lastsMs,
      alarm: null,
      running: null,
    }
    if (spec.after === undefined || spec.after === 0) {
      checkState(resolved, this.#runtime.members())
      await this.#begin(entry)
    } else {
      this.#entries.set(entry.id, entry)
      entry.alarm = this.#runtime.alarm(spec.after, () => this.#later(entry, () => this.#begin(entry)))
    }
    return { id: entry.id }
  }

  /** {@link heal} for one who lets time pass by itself. */
  async healInBackground(id?: number): Promise<number[]> {
    if (id !== undefined && !this.#entries.has(id)) {
      const known = [...this.#entries.keys()]
      throw new OptionError(`there is no fault ${id}; ${known.length === 0 ? 'nothing is broken' : `the faults are ${known.join(', ')}`}.`)
    }
    const entries = id === undefined ? [...this.#entries.values()] : [this.#entries.get(id)!]
    // The last one first: a member that was frozen and then crashed is started before it is thawed.
    const failures: unknown[] = []
    for (const entry of entries.toReversed()) await this.#heal(entry).catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
    return entries.map((entry) => entry.id)
  }

  async #begin(entry: Entry): Promise<void> {
    const { resolved } = entry
    const { target, spec } = resolved
    this.#entries.set(entry.id, entry)
    try {
      checkState(resolved, this.#runtime.members())
      this.#report('fault-applied', entry)
      if (spec.verb === 'restart') this.#forgetDown(target!)
      // A process that ends is no longer paused.
      if (endsProcess.has(spec.verb)) await this.#world.resume(target!)
      entry.running = await begin(this.#world, resolved)
    } catch (error) {
      this.#entries.delete(entry.id)
      throw error
    }
    if (!this.#entries.has(entry.id)) {
      // Somebody has healed it while it began.
      await entry.running?.heal()
      this.#report('fault-healed', entry)
    } else if (entry.running === null) {
      this.#entries.delete(entry.id)
      this.#report('fault-healed', entry)
    } else if (entry.healsAtMs !== null) {
      entry.alarm = this.#runtime.alarm(entry.healsAtMs - this.#runtime.now(), () => this.#later(entry, () => this.#heal(entry)))
    }
  }

  async #heal(entry: Entry): Promise<void> {
    if (!this.#entries.delete(entry.id)) return
    entry.alarm?.cancel()
    if (entry.running === null) return
    await entry.running.heal()
    this.#report('fault-healed', entry)
  }

  /** The member is started anew: what keeps it down is over. */
  #forgetDown(member: Address): void {
    for (const entry of [...this.#entries.values()]) {
      if (entry.resolved.target !== member || !downVerbs.has(entry.resolved.spec.verb)) continue
      entry.alarm?.cancel()
      this.#entries.delete(entry.id)
      this.#report('fault-healed', entry)
    }
  }

  async #healWhere(fits: (spec: FaultSpec) => boolean, member: Address): Promise<void> {
    for (const entry of [...this.#entries.values()])
      if (entry.resolved.target === member && fits(entry.resolved.spec)) await this.#heal(entry)
  }

  /** What a schedule does: nobody is there to hear that it cannot be done. */
  #later(entry: Entry, work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      const fields = { fault: formatFault(entry.resolved.spec), error: error instanceof Error ? error.message : String(error) }
      const event = {
        type: 'log',
        atMs: this.#runtime.now(),
        member: 'cluster',
        level: 'error',
        message: 'a scheduled fault failed',
        fields,
      } as const
      this.#runtime.emit(event)
    })
  }

  #report(type: 'fault-applied' | 'fault-healed', { id, resolved }: Entry): void {
    this.#runtime.emit({ type, atMs: this.#runtime.now(), id, fault: formatFault(resolved.spec), target: resolved.target })
  }
}
