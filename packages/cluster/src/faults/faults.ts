import { createRandom, createShortId, type Address } from '@shardlab/actor'
import { formatDuration } from '@shardlab/quantities'
import type { ReachedStep, Runtime } from '@shardlab/runtime'
import { OptionError } from '../option-error.js'
import type { AppliedFault } from './applied-fault.js'
import { appliedFault, removeFromFault, type Entry, type FaultPart } from './entry.js'
import type { FaultInput } from './fault-data.js'
import type { EndingEvent, FaultVerb } from './fault-verb.js'
import type { FaultWorld, RunningFault } from './fault-world.js'
import { FirstStrike } from './first-strike.js'
import { formatFault } from './grammar.js'
import { parseFault } from './parse.js'
import { answersPassed } from './answers-passed.js'
import { clientsEnd, dependsOnMember, resolveFault } from './resolve.js'
import { chooseFor, type ChosenFault } from './targets/chosen-fault.js'

export interface FaultsOptions {
  readonly networkTimeoutMs: number
  /** How long a fault waits for a member that fits its words. */
  readonly findReplicaSetHostTimeoutMs: number
  /** Determines the ids of faults. */
  readonly seed: number
  /** Default: the runtime's restart. */
  readonly restart?: FaultWorld['restart']
}

/** Between two searches for a member that fits the words of a fault. */
const searchEveryMs = 50

export class Faults {
  readonly #runtime: Runtime
  readonly #world: Omit<FaultWorld, 'struck'>
  readonly #searchMs: number
  readonly #entries = new Map<string, Entry>()
  readonly #newId: () => string

  constructor(
    runtime: Runtime,
    {
      networkTimeoutMs,
      findReplicaSetHostTimeoutMs,
      seed,
      restart = (member) => runtime.background.restart(member),
    }: FaultsOptions,
  ) {
    this.#runtime = runtime
    this.#searchMs = findReplicaSetHostTimeoutMs
    this.#newId = createShortId(createRandom(seed).fork('fault-ids'))
    this.#world = {
      runtime,
      networkTimeoutMs,
      restart,
      resume: (member) => this.#resume(member),
      atWork: (member, verb) => this.#atWork(member, verb).map(({ resolved: { spec } }) => spec),
      isKeptDown: (member) => this.#parts().some(({ running }) => running?.down?.has(member) === true),
    }
    runtime.onEvent((event) => {
      if (event.type !== 'member') return
      if (event.state === 'started') for (const { running } of this.#parts()) running?.down?.delete(event.member)
      this.#over(event.member, event.state === 'started' ? 'start of the member' : 'end of the process')
    })
  }

  /**
   * Applies a fault, given as text (`crash shard02 for 5s`) or as data
   * (`{ verb: 'crash', target: 'shard02', for: '5s' }`). Resolves once the fault is at work or
   * scheduled. A fault of `the primary of shard02` waits for a primary, for at most
   * `findReplicaSetHostTimeoutMs`.
   * @throws OptionError the fault is invalid, or names an unknown member, set, link or step, or no
   * member fits its words in that time
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

  /**
   * {@link apply} for a caller that advances the virtual clock itself.
   * @param through the member that passes the result on: a fault that silences it begins afterwards
   */
  async applyInBackground(fault: FaultInput | string, through: Address | null = null): Promise<{ id: string }> {
    const spec = await parseFault(fault)
    const entry: Entry = {
      id: this.#newId(),
      resolved: resolveFault(spec, this.#runtime.members()),
      beginsAtMs: 0,
      healsAtMs: null,
      alarm: null,
      state: 'scheduled',
      members: [],
      link: null,
      parts: [],
      strike: new FirstStrike(),
    }
    const { after = 0 } = spec
    setTimes(entry, this.#runtime.now() + after)
    this.#entries.set(entry.id, entry)
    if (after === 0) {
      await this.#begin(entry, through)
      if (!isBegun(entry) && !this.#entries.has(entry.id))
        throw new OptionError(`the fault '${formatFault(spec)}' was healed before it began.`)
    } else entry.alarm = this.#runtime.alarm(after, () => this.#later(entry, () => this.#begin(entry)))
    return { id: entry.id }
  }

  /**
   * The faults of a member that leaves the cluster are over, and so are those on links and steps
   * that concern no other member. The member is not started again.
   */
  async forget(member: Address): Promise<void> {
    for (const { running } of this.#parts()) running?.down?.delete(member)
    for (const entry of this.#entries.values())
      if (isBegun(entry)) {
        for (const part of removeFromFault(member, entry))
          if (part.running === null) part.isOver = true
          else await this.#undoPart(entry, part, part.running)
      } else if (dependsOnMember(member, entry.resolved)) await this.#heal(entry)
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

  async #begin(entry: Entry, through: Address | null = null): Promise<void> {
    const chosen = await this.#choose(entry).catch((error: unknown) => this.#notBegun(entry, error))
    if (chosen === null) return
    if (through === null || !silences(entry, chosen, through)) return this.#beginWith(entry, chosen)
    entry.state = 'scheduled'
    this.#later(entry, async () => {
      await answersPassed(this.#runtime, through)
      if (this.#entries.has(entry.id)) await this.#beginWith(entry, chosen)
    })
  }

  async #beginWith(entry: Entry, chosen: ChosenFault): Promise<void> {
    setTimes(entry, this.#runtime.now())
    await this.#beginParts(entry, chosen).catch((error: unknown) => this.#notBegun(entry, error))
    if (!this.#entries.has(entry.id) || entry.parts.length === 0) {
      // It was healed while it began, its members were started or ended, or it is over at once.
      this.#entries.delete(entry.id)
      await this.#undo(entry)
    } else if (entry.healsAtMs !== null) {
      entry.alarm = this.#runtime.alarm(entry.healsAtMs - this.#runtime.now(), () =>
        this.#later(entry, () => this.#heal(entry)),
      )
    }
  }

  #notBegun(entry: Entry, error: unknown): never {
    this.#entries.delete(entry.id)
    entry.strike.end(formatFault(entry.resolved.spec))
    throw error
  }

  /**
   * Waits for members that fit the words of the fault. Null: it was healed before.
   * @throws OptionError if there are none in time
   */
  async #choose(entry: Entry): Promise<ChosenFault | null> {
    const { resolved } = entry
    const untilMs = this.#runtime.now() + this.#searchMs
    for (;;) {
      const chosen = await chooseFor(resolved, this.#runtime, (member) => this.#atWork(member, 'pause').length > 0)
      if (!this.#entries.has(entry.id)) return null
      if (!('missing' in chosen)) return chosen
      const leftMs = untilMs - this.#runtime.now()
      if (leftMs <= 0)
        throw new OptionError(
          `cannot begin '${formatFault(resolved.spec)}' after ${formatDuration(this.#searchMs)}: ${chosen.missing}. Restart a member, or name one.`,
        )
      entry.state = 'waiting'
      await new Promise<void>((resolve) => {
        entry.alarm = this.#runtime.alarm(Math.min(searchEveryMs, leftMs), resolve)
      })
    }
  }

  async #beginParts(entry: Entry, chosen: ChosenFault): Promise<void> {
    const { verb } = entry.resolved
    entry.state = 'begun'
    entry.members = chosen.members
    entry.link = chosen.link
    const parts = verb.on === 'member' ? chosen.members : [null]
    entry.parts = parts.map((member) => ({ member, running: null, isOver: false }))
    this.#report('fault-applied', entry)
    const world = { ...this.#world, struck: (reached: ReachedStep) => this.#struck(entry, reached) }
    const begun = entry.parts.map((part) => this.#beginPart(world, entry, part, chosen))
    const failed = (await Promise.allSettled(begun)).find((result) => result.status === 'rejected')
    if (failed === undefined) return
    this.#entries.delete(entry.id)
    await this.#undo(entry)
    throw failed.reason
  }

  async #beginPart(world: FaultWorld, entry: Entry, part: FaultPart, chosen: ChosenFault): Promise<void> {
    const { verb } = entry.resolved
    const running = await begin(world, entry, part, chosen).catch((error: unknown) => {
      entry.parts = entry.parts.filter((other) => other !== part)
      throw error
    })
    const isOver = part.isOver || (endsWith(verb) === 'start of the member' && this.#isUp(part.member!))
    if (running !== null && !isOver) {
      part.running = running
      return
    }
    entry.parts = entry.parts.filter((other) => other !== part)
    await running?.heal()
  }

  #isUp(member: Address): boolean {
    const state = this.#runtime.member(member)?.state
    return state === 'running' || state === 'starting'
  }

  async #heal(entry: Entry): Promise<void> {
    if (!this.#entries.delete(entry.id)) return
    // A fault that waits finds out at its next search.
    if (entry.state !== 'waiting') entry.alarm?.cancel()
    if (!isBegun(entry)) entry.strike.end(formatFault(entry.resolved.spec))
    // One that is beginning is undone once it is at work.
    else if (entry.parts.every(({ running }) => running !== null)) await this.#undo(entry)
  }

  /** A fault is over even when healing fails, as when the member crashes while it is starting. */
  async #undo(entry: Entry): Promise<void> {
    if (entry.state === 'over') return
    entry.state = 'over'
    const parts = entry.parts.splice(0)
    const failures: unknown[] = []
    for (const { running } of parts) await running?.heal().catch((error: unknown) => failures.push(error))
    this.#report('fault-healed', entry)
    entry.strike.end(formatFault(entry.resolved.spec))
    if (failures.length > 0) throw failures[0]
  }

  /** Heals one part; with the last one, the fault is over. */
  async #undoPart(entry: Entry, part: FaultPart, running: RunningFault): Promise<void> {
    entry.parts = entry.parts.filter((other) => other !== part)
    if (entry.parts.length > 0) return running.heal()
    entry.parts = [part]
    await this.#heal(entry)
  }

  #parts(): FaultPart[] {
    return [...this.#entries.values()].flatMap(({ parts }) => parts)
  }

  /** Other faults of this verb. */
  #atWork(member: Address, verb: string): Entry[] {
    const isAtWork = (part: FaultPart) => part.member === member && part.running !== null
    return [...this.#entries.values()].filter(
      ({ resolved: { spec }, parts }) => spec.verb === verb && parts.some(isAtWork),
    )
  }

  /** Heals what ends with this event. A part that is beginning is undone once it is at work. */
  #over(member: Address, event: EndingEvent): void {
    for (const entry of this.#entries.values())
      for (const part of entry.parts)
        if (part.member === member && endsWith(entry.resolved.verb) === event) this.#endPart(entry, part)
  }

  #endPart(entry: Entry, part: FaultPart): void {
    const { running } = part
    if (running === null) part.isOver = true
    else this.#later(entry, () => this.#undoPart(entry, part, running))
  }

  async #resume(member: Address): Promise<void> {
    for (const entry of this.#atWork(member, 'pause'))
      for (const part of entry.parts)
        if (part.member === member && part.running !== null) await this.#undoPart(entry, part, part.running)
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

  #report(type: 'fault-applied' | 'fault-healed', { id, resolved, members }: Entry): void {
    this.#runtime.emit({ type, atMs: this.#runtime.now(), id, fault: formatFault(resolved.spec), members })
  }
}

const isBegun = ({ state }: Entry): boolean => state === 'begun' || state === 'over'

/** `beginsAtMs`, and from it the end. */
function setTimes(entry: Entry, beginsAtMs: number): void {
  const { spec, verb } = entry.resolved
  const lastsMs = ('for' in spec ? spec.for : undefined) ?? (verb.on === 'member' ? verb.lastsMs : undefined)
  entry.beginsAtMs = beginsAtMs
  entry.healsAtMs = lastsMs === undefined ? null : beginsAtMs + lastsMs
}

function begin(
  world: FaultWorld,
  { resolved: { verb, spec, target } }: Entry,
  { member }: FaultPart,
  { members, link }: ChosenFault,
): Promise<RunningFault | null> {
  switch (verb.on) {
    case 'member':
      return verb.begin(world, member!, spec)
    case 'link':
      return verb.begin(world, link!, spec)
    case 'step':
      return verb.begin(world, target === null ? null : members, spec)
  }
}

/** Whether the member cannot answer a client once the fault is at work. */
function silences({ resolved: { verb } }: Entry, { members, link }: ChosenFault, member: Address): boolean {
  if (verb.on === 'step' || verb.silences !== true || !members.includes(member)) return false
  return link === null || link.to === clientsEnd || link.to === 'everybody'
}

function endsWith(verb: FaultVerb): EndingEvent | undefined {
  return verb.on === 'member' ? verb.endsWith : undefined
}
