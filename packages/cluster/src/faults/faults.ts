/** The faults of one cluster: applied, listed and healed, at once or by a schedule. */
import type { Address } from '@shardlab/actor'
import type { Alarm, Runtime } from '@shardlab/runtime'
import { OptionError } from '../option-error.js'
import { begin, downVerbs, processVerbs, type FaultWorld, type ResolvedFault, type RunningFault } from './effects.js'
import { formatFault } from './grammar.js'
import { parseFault } from './parse.js'
import { checkState, resolveFault } from './resolve.js'
import type { FaultInput, FaultSpec, FaultVerb } from './schema.js'

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
  /** Its turn has come. */
  begun: boolean
  /** null: it is not at work yet. */
  running: RunningFault | null
}

/** How long a member stays stepped down unless told otherwise. */
const stepDownMs = 10_000

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

  constructor(
    runtime: Runtime,
    { networkTimeoutMs, restart = (member) => runtime.background.restart(member) }: FaultsOptions,
  ) {
    this.#runtime = runtime
    this.#world = {
      runtime,
      networkTimeoutMs,
      restart,
      resume: (member) => this.#resume(member),
      isAtWork: (member, verb) => this.#atWork(member, verb).length > 0,
      isKeptDown: (member) => [...this.#entries.values()].some(({ running }) => running?.down?.has(member) === true),
    }
    runtime.onEvent((event) => {
      // Whoever ended or started it: by a fault, by the API, or by a defect of its own.
      if (event.type !== 'member') return
      if (event.state === 'started')
        for (const { running } of this.#entries.values()) running?.down?.delete(event.member)
      this.#over(event.member, event.state === 'started' ? downVerbs : processVerbs)
    })
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
    if (spec.after === undefined || spec.after === 0) this.#check(resolved)
    const lastsMs = ('for' in spec ? spec.for : undefined) ?? (spec.verb === 'stepDown' ? stepDownMs : undefined)
    const beginsAtMs = this.#runtime.now() + (spec.after ?? 0)
    const entry: Entry = {
      id: ++this.#lastId,
      resolved,
      beginsAtMs,
      healsAtMs: lastsMs === undefined ? null : beginsAtMs + lastsMs,
      alarm: null,
      begun: false,
      running: null,
    }
    if (spec.after === undefined || spec.after === 0) {
      await this.#begin(entry)
    } else {
      this.#entries.set(entry.id, entry)
      entry.alarm = this.#runtime.alarm(spec.after, () => this.#later(entry, () => this.#beginAsPlanned(entry)))
    }
    return { id: entry.id }
  }

  /** {@link heal} for one who lets time pass by itself. */
  async healInBackground(id?: number): Promise<number[]> {
    if (id !== undefined && !this.#entries.has(id)) {
      const known = [...this.#entries.keys()]
      throw new OptionError(
        `there is no fault ${id}; ${known.length === 0 ? 'nothing is broken' : `the faults are ${known.join(', ')}`}.`,
      )
    }
    const entries = id === undefined ? [...this.#entries.values()] : [this.#entries.get(id)!]
    // The last one first: a member that was frozen and then crashed is started before it is thawed.
    const failures: unknown[] = []
    for (const entry of entries.toReversed()) await this.#heal(entry).catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
    return entries.map((entry) => entry.id)
  }

  async #beginAsPlanned(entry: Entry): Promise<void> {
    try {
      this.#check(entry.resolved)
    } catch (error) {
      this.#entries.delete(entry.id)
      throw error
    }
    await this.#begin(entry)
  }

  /** @throws OptionError when the member is not in the state that the verb wants */
  #check(resolved: ResolvedFault): void {
    checkState(resolved, this.#runtime.members())
    const { target, spec } = resolved
    if (spec.verb === 'resume' && this.#atWork(target!, 'pause').length === 0)
      throw new OptionError(`${formatFault(spec)} wants a member that is paused.`)
  }

  #isUp(member: Address): boolean {
    const state = this.#runtime.member(member)?.state
    return state === 'running' || state === 'starting'
  }

  async #begin(entry: Entry): Promise<void> {
    const { target, spec } = entry.resolved
    this.#entries.set(entry.id, entry)
    entry.begun = true
    this.#report('fault-applied', entry)
    try {
      // Who is frozen cannot end in order.
      if (spec.verb === 'stop') await this.#resume(target!)
      entry.running = await begin(this.#world, entry.resolved)
    } catch (error) {
      this.#entries.delete(entry.id)
      this.#report('fault-healed', entry)
      throw error
    }
    const isOver = downVerbs.includes(spec.verb) && this.#isUp(target!)
    if (entry.running === null) {
      this.#entries.delete(entry.id)
      this.#report('fault-healed', entry)
    } else if (isOver || !this.#entries.has(entry.id)) {
      // Somebody has healed it while it began, or has started or ended the member.
      this.#entries.delete(entry.id)
      await this.#undo(entry, entry.running)
    } else if (entry.healsAtMs !== null) {
      entry.alarm = this.#runtime.alarm(entry.healsAtMs - this.#runtime.now(), () =>
        this.#later(entry, () => this.#heal(entry)),
      )
    }
  }

  async #heal(entry: Entry): Promise<void> {
    if (!this.#entries.delete(entry.id)) return
    entry.alarm?.cancel()
    if (entry.running !== null) await this.#undo(entry, entry.running)
  }

  /** Also where what it broke does not work again, it is over: the member may have crashed while it was starting. */
  async #undo(entry: Entry, running: RunningFault): Promise<void> {
    try {
      await running.heal()
    } finally {
      this.#report('fault-healed', entry)
    }
  }

  #begun(member: Address, verbs: readonly FaultVerb[]): Entry[] {
    const isMeant = ({ begun, resolved: { target, spec } }: Entry) =>
      begun && target === member && verbs.includes(spec.verb)
    return [...this.#entries.values()].filter(isMeant)
  }

  #atWork(member: Address, verb: FaultVerb): Entry[] {
    return this.#begun(member, [verb]).filter(({ running }) => running !== null)
  }

  /** One that only begins is healed as soon as it is at work. */
  #over(member: Address, verbs: readonly FaultVerb[]): void {
    for (const entry of this.#begun(member, verbs)) this.#later(entry, () => this.#heal(entry))
  }

  async #resume(member: Address): Promise<void> {
    for (const entry of this.#atWork(member, 'pause')) await this.#heal(entry)
  }

  /** What a schedule does: nobody is there to hear that it cannot be done. */
  #later(entry: Entry, work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      const fields = {
        fault: formatFault(entry.resolved.spec),
        error: error instanceof Error ? error.message : String(error),
      }
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
    this.#runtime.emit({
      type,
      atMs: this.#runtime.now(),
      id,
      fault: formatFault(resolved.spec),
      target: resolved.target,
    })
  }
}
