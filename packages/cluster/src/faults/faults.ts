import { createRandom, createShortId, type Address } from '@shardlab/actor'
import type { ReachedStep, Runtime } from '@shardlab/runtime'
import { OptionError } from '../option-error.js'
import type { AppliedFault } from './applied-fault.js'
import { appliedFault, type Entry } from './entry.js'
import type { FaultInput } from './fault-data.js'
import type { EndingEvent, FaultVerb } from './fault-verb.js'
import type { FaultWorld, RunningFault } from './fault-world.js'
import { FirstStrike } from './first-strike.js'
import { formatFault } from './grammar.js'
import { parseFault } from './parse.js'
import { checkState, resolveFault, type ResolvedFault } from './resolve.js'

export interface FaultsOptions {
  readonly networkTimeoutMs: number
  /** Determines the ids of faults. */
  readonly seed: number
  /** Default: the runtime's restart. */
  readonly restart?: FaultWorld['restart']
}

export class Faults {
  readonly #runtime: Runtime
  readonly #world: Omit<FaultWorld, 'struck'>
  readonly #entries = new Map<string, Entry>()
  readonly #newId: () => string

  constructor(
    runtime: Runtime,
    { networkTimeoutMs, seed, restart = (member) => runtime.background.restart(member) }: FaultsOptions,
  ) {
    this.#runtime = runtime
    this.#newId = createShortId(createRandom(seed).fork('fault-ids'))
    this.#world = {
      runtime,
      networkTimeoutMs,
      restart,
      resume: (member) => this.#resume(member),
      isAtWork: (member, verb) => this.#atWork(member, verb).length > 0,
      isKeptDown: (member) => [...this.#entries.values()].some(({ running }) => running?.down?.has(member) === true),
    }
    runtime.onEvent((event) => {
      if (event.type !== 'member') return
      if (event.state === 'started')
        for (const { running } of this.#entries.values()) running?.down?.delete(event.member)
      this.#over(event.member, event.state === 'started' ? 'start of the member' : 'end of the process')
    })
  }

  /**
   * Applies a fault, given as text (`crash shard02 for 5s`) or as data
   * (`{ verb: 'crash', target: 'shard02', for: '5s' }`). Resolves once the fault is at work or
   * scheduled.
   * @throws OptionError the fault is invalid, or names an unknown member, link or step
   */
  apply(fault: FaultInput | string): Promise<{ id: string }> {
    return this.#runtime.during(this.applyInBackground(fault))
  }

  /** In the order in which they were applied. */
  list(): AppliedFault[] {
    return [...this.#entries.values()].map(appliedFault)
  }

  /**
   * Heals one fault, or all: starts members that are down, repairs links, releases held members.
   * @returns the ids of the healed faults
   * @throws OptionError if the id is unknown
   */
  heal(id?: string): Promise<string[]> {
    return this.#runtime.during(this.healInBackground(id))
  }

  /**
   * Resolves when a member reaches the step of a fault: it is held there, fails, or crashes. At
   * once if one has reached it already.
   * @throws OptionError if the id is unknown, if the fault is not at a step, or if it is healed
   * before a member reaches the step
   */
  reached(id: string): Promise<{ readonly member: Address; readonly step: string }> {
    return this.#runtime.during(this.reachedInBackground(id))
  }

  /** {@link reached} for a caller that advances the virtual clock itself. */
  async reachedInBackground(id: string): Promise<{ readonly member: Address; readonly step: string }> {
    const entry = this.#entryOf(id)
    if (entry.resolved.verb.on !== 'step')
      throw new OptionError(
        `${formatFault(entry.resolved.spec)} is not at a step, so no member reaches it: wait for a fault such as 'hold at shard.migration.committing'.`,
      )
    const { address, step } = await entry.strike.promise
    return { member: address, step }
  }

  /** {@link apply} for a caller that advances the virtual clock itself. */
  async applyInBackground(fault: FaultInput | string): Promise<{ id: string }> {
    const spec = await parseFault(fault)
    const resolved = resolveFault(spec, this.#runtime.members())
    if (spec.after === undefined || spec.after === 0) this.#check(resolved)
    const lastsMs =
      ('for' in spec ? spec.for : undefined) ?? (resolved.verb.on === 'member' ? resolved.verb.lastsMs : undefined)
    const beginsAtMs = this.#runtime.now() + (spec.after ?? 0)
    const entry: Entry = {
      id: this.#newId(),
      resolved,
      beginsAtMs,
      healsAtMs: lastsMs === undefined ? null : beginsAtMs + lastsMs,
      alarm: null,
      begun: false,
      running: null,
      strike: new FirstStrike(),
    }
    if (spec.after === undefined || spec.after === 0) {
      await this.#begin(entry)
    } else {
      this.#entries.set(entry.id, entry)
      entry.alarm = this.#runtime.alarm(spec.after, () => this.#later(entry, () => this.#beginAsPlanned(entry)))
    }
    return { id: entry.id }
  }

  /** {@link heal} for a caller that advances the virtual clock itself. */
  async healInBackground(id?: string): Promise<string[]> {
    const entries = id === undefined ? [...this.#entries.values()] : [this.#entryOf(id)]
    // In reverse order: a member that was paused and then crashed must start before the pause is
    // healed.
    const failures: unknown[] = []
    for (const entry of entries.toReversed()) await this.#heal(entry).catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
    return entries.map((entry) => entry.id)
  }

  /** @throws OptionError */
  #entryOf(id: string): Entry {
    const entry = this.#entries.get(id)
    if (entry !== undefined) return entry
    const known = [...this.#entries.keys()]
    throw new OptionError(
      `there is no fault ${id}; ${known.length === 0 ? 'nothing is broken' : `the faults are ${known.join(', ')}`}.`,
    )
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

  /** @throws OptionError if the member is not in the state that the verb needs */
  #check(resolved: ResolvedFault): void {
    const { target } = resolved
    checkState(resolved, this.#runtime.members(), target !== null && this.#atWork(target, 'pause').length > 0)
  }

  #isUp(member: Address): boolean {
    const state = this.#runtime.member(member)?.state
    return state === 'running' || state === 'starting'
  }

  async #begin(entry: Entry): Promise<void> {
    const { target, verb } = entry.resolved
    this.#entries.set(entry.id, entry)
    entry.begun = true
    this.#report('fault-applied', entry)
    try {
      const world = { ...this.#world, struck: (reached: ReachedStep) => this.#struck(entry, reached) }
      entry.running = await begin(world, entry.resolved)
    } catch (error) {
      this.#entries.delete(entry.id)
      this.#report('fault-healed', entry)
      throw error
    }
    const isOver = endsWith(verb) === 'start of the member' && this.#isUp(target!)
    if (entry.running === null) {
      this.#entries.delete(entry.id)
      this.#report('fault-healed', entry)
    } else if (isOver || !this.#entries.has(entry.id)) {
      // It was healed while it began, or the member was started or ended.
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
    else entry.strike.end(formatFault(entry.resolved.spec))
  }

  /** A fault is over even when healing fails, as when the member crashes while it is starting. */
  async #undo(entry: Entry, running: RunningFault): Promise<void> {
    try {
      await running.heal()
    } finally {
      this.#report('fault-healed', entry)
      entry.strike.end(formatFault(entry.resolved.spec))
    }
  }

  #begunOn(member: Address): Entry[] {
    return [...this.#entries.values()].filter(({ begun, resolved: { target } }) => begun && target === member)
  }

  #atWork(member: Address, verb: string): Entry[] {
    return this.#begunOn(member).filter(({ running, resolved: { spec } }) => running !== null && spec.verb === verb)
  }

  /**
   * Heals the faults that end with this event. One that is still beginning is undone once it is at
   * work.
   */
  #over(member: Address, event: EndingEvent): void {
    for (const entry of this.#begunOn(member))
      if (endsWith(entry.resolved.verb) === event) this.#later(entry, () => this.#heal(entry))
  }

  async #resume(member: Address): Promise<void> {
    for (const entry of this.#atWork(member, 'pause')) await this.#heal(entry)
  }

  /** Without a caller, such as a schedule's work: a failure is logged. */
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

  #struck(entry: Entry, reached: ReachedStep): void {
    entry.strike.note(reached)
    this.#runtime.emit({
      type: 'fault-struck',
      atMs: this.#runtime.now(),
      id: entry.id,
      fault: formatFault(entry.resolved.spec),
      member: reached.address,
      step: reached.step,
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

function begin(world: FaultWorld, { verb, spec, target, link }: ResolvedFault): Promise<RunningFault | null> {
  switch (verb.on) {
    case 'member':
      return verb.begin(world, target!, spec)
    case 'link':
      return verb.begin(world, link!, spec)
    case 'step':
      return verb.begin(world, target, spec)
  }
}

function endsWith(verb: FaultVerb): EndingEvent | undefined {
  return verb.on === 'member' ? verb.endsWith : undefined
}
