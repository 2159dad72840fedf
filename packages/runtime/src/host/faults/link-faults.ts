import {
  createRandom,
  isMongosAddress,
  isShardAddress,
  repeatedKinds,
  type Address,
  type Random,
} from '@shardlab/actor'
import type { Alarm, HostClock } from '../time/clock.js'
import { clientsAddress, type LinkEffect, type LinkEnd, type LinkFault } from './host-fault.js'
import { countStrike } from './strike-count.js'

export interface Transmission {
  readonly sizeBytes: number
  deliver(): void
  deliverTwice(): void
  lose(why: string): void
  break(why: string): void
  /** Half of it arrives, then the connection breaks. */
  cut(why: string): void
}

export interface LinkFaultsOptions {
  readonly clock: HostClock
  readonly random: Random
  /** Both ends of these links have closed them, because nothing arrived for too long. */
  readonly onSilent: (affectsLink: (one: Address, other: Address) => boolean, why: string) => void
}

interface AppliedFault {
  readonly fault: LinkFault
  readonly random: Random
  /** The partition has lasted for its `silenceMs`: its links are closed. */
  isSilent: boolean
  silenceAlarm: Alarm | null
  /** `slow`: until when the receiver is busy. `limit`: until when each direction of a link is. */
  readonly busyUntilMs: Map<string, number>
  /**
   * Messages that a partition of only some messages withholds, with the alarms that lose them.
   * Later messages overtake them.
   */
  readonly withheld: Map<Transmission, Alarm>
}

/** Delivered when it is due and no partition blocks it. */
interface QueuedTransmission {
  readonly transmission: Transmission
  readonly dueMs: number
  readonly twice: boolean
  blockedBy: AppliedFault | null
}

/** The delayed messages of one direction of a link, in the order in which they were sent. */
interface LinkQueue {
  readonly name: string
  readonly from: Address
  readonly to: Address
  readonly waiting: QueuedTransmission[]
  alarm: Alarm | null
}

/**
 * The link faults of one host, applied to messages that arrive there. Without faults {@link active}
 * is false, and a message costs one test of it.
 */
export class LinkFaults {
  active = false
  readonly #options: LinkFaultsOptions
  readonly #applied = new Map<number, AppliedFault>()
  readonly #queues = new Map<string, LinkQueue>()

  constructor(options: LinkFaultsOptions) {
    this.#options = options
  }

  apply(fault: LinkFault): void {
    const { clock, random } = this.#options
    const applied: AppliedFault = {
      fault,
      random: fault.seed === null ? random.fork(String(fault.id)) : createRandom(fault.seed),
      isSilent: false,
      silenceAlarm: null,
      busyUntilMs: new Map(),
      withheld: new Map(),
    }
    this.#applied.set(fault.id, applied)
    this.active = true
    if (fault.effect.type === 'partition' && blocksEverything(fault)) {
      applied.silenceAlarm = clock.alarm(fault.effect.silenceMs, () => this.#onSilence(applied))
    }
  }

  heal(id: number): void {
    const applied = this.#applied.get(id)
    if (applied === undefined) return
    this.#applied.delete(id)
    applied.silenceAlarm?.cancel()
    for (const alarm of applied.withheld.values()) alarm.cancel()
    for (const transmission of [...applied.withheld.keys()])
      if (applied.withheld.delete(transmission)) transmission.deliver()
    for (const queue of [...this.#queues.values()]) {
      for (const waiting of queue.waiting) if (waiting.blockedBy === applied) waiting.blockedBy = null
      this.#deliverDue(queue)
    }
    this.#updateActive()
  }

  /** Callers check before they send a request. */
  refuses(from: Address, to: Address, kind: string): boolean {
    for (const applied of this.#applied.values()) {
      const { effect } = applied.fault
      if (
        applied.isSilent
          ? affectsLink(applied.fault, from, to)
          : effect.type === 'refuse' && this.#strikes(applied, from, to, kind)
      )
        return true
    }
    return false
  }

  /** Delivers a message that arrives: now, later, or never. `isAnswer`: to a request from `to`. */
  pass(from: Address, to: Address, kind: string, isAnswer: boolean, transmission: Transmission): void {
    const now = this.#options.clock.now()
    const name = `${from}>${to}`
    let dueMs = now
    let blockedBy: AppliedFault | null = null
    let twice = false
    for (const applied of this.#applied.values()) {
      const { fault } = applied
      const { effect } = fault
      if (!isMeant(effect, kind, isAnswer) || !this.#strikes(applied, from, to, kind)) continue
      switch (effect.type) {
        case 'drop':
        case 'cut':
          return this.#break(from, to, transmission, effect.type === 'cut')
        case 'partition':
          if (applied.isSilent) return transmission.lose(silent)
          if (!blocksEverything(fault)) return this.#withhold(applied, effect.silenceMs, transmission)
          blockedBy = applied
          break
        case 'delay':
          dueMs += effect.minMs + applied.random.fraction() * (effect.maxMs - effect.minMs)
          break
        case 'slow':
          dueMs = Math.max(dueMs, occupy(applied, '', now, effect.perMessageMs))
          break
        case 'limit':
          dueMs += Math.ceil(occupy(applied, name, now, (transmission.sizeBytes * 1000) / effect.bytesPerSecond) - now)
          break
        case 'duplicate':
          twice = true
          break
        // Applies to new connections only.
        case 'refuse':
      }
    }
    let queue = this.#queues.get(name)
    if (queue === undefined) {
      if (blockedBy === null && dueMs <= now) return twice ? transmission.deliverTwice() : transmission.deliver()
      queue = { name, from, to, waiting: [], alarm: null }
      this.#queues.set(name, queue)
    }
    queue.waiting.push({ transmission, twice, dueMs: Math.max(dueMs, queue.waiting.at(-1)?.dueMs ?? 0), blockedBy })
    this.#deliverDue(queue)
  }

  /** The member is gone. Senders learn of that in another way. */
  dropQueuedTo(address: Address): void {
    for (const queue of [...this.#queues.values()]) if (queue.to === address) this.#close(queue)
  }

  #strikes(applied: AppliedFault, from: Address, to: Address, kind: string): boolean {
    const { fault } = applied
    if ((fault.kinds !== null && !fault.kinds.includes(kind)) || !covers(fault, from, to)) return false
    if (fault.probability < 1 && applied.random.fraction() >= fault.probability) return false
    return countStrike(fault.strikes, fault.times)
  }

  #break(from: Address, to: Address, transmission: Transmission, half: boolean): void {
    const why = 'closed the connection before it answered'
    // Each client has a connection of its own. Two members have one.
    if (from === clientsAddress || to === clientsAddress) return half ? transmission.cut(why) : transmission.lose(why)
    this.loseQueued(from, to, why)
    transmission.break(why)
  }

  loseQueued(from: Address, to: Address, why: string): void {
    const queue = this.#queues.get(`${from}>${to}`)
    if (queue === undefined) return
    this.#close(queue)
    for (const { transmission } of queue.waiting) transmission.lose(why)
  }

  #withhold(applied: AppliedFault, silenceMs: number, transmission: Transmission): void {
    const alarm = this.#options.clock.alarm(silenceMs, () => {
      if (applied.withheld.delete(transmission)) transmission.lose(silent)
    })
    applied.withheld.set(transmission, alarm)
  }

  #onSilence(applied: AppliedFault): void {
    applied.isSilent = true
    const hit = (one: Address, other: Address) => affectsLink(applied.fault, one, other)
    for (const { from, to } of [...this.#queues.values()]) if (hit(from, to)) this.loseQueued(from, to, silent)
    this.#options.onSilent(hit, silent)
  }

  #deliverDue(queue: LinkQueue): void {
    queue.alarm?.cancel()
    queue.alarm = null
    for (let first = queue.waiting[0]; first !== undefined; first = queue.waiting[0]) {
      if (first.blockedBy !== null) return
      const leftMs = first.dueMs - this.#options.clock.now()
      if (leftMs > 0) {
        queue.alarm = this.#options.clock.alarm(leftMs, () => this.#deliverDue(queue))
        return
      }
      queue.waiting.shift()
      if (first.twice) first.transmission.deliverTwice()
      else first.transmission.deliver()
    }
    this.#close(queue)
  }

  #close(queue: LinkQueue): void {
    queue.alarm?.cancel()
    if (this.#queues.get(queue.name) === queue) this.#queues.delete(queue.name)
    this.#updateActive()
  }

  /** Queued messages count: later ones must not overtake them. */
  #updateActive(): void {
    this.active = this.#applied.size > 0 || this.#queues.size > 0
  }
}

const silent = 'was silent for too long'

const isRepeated: ReadonlySet<string> = new Set(repeatedKinds)

function isMeant({ type }: LinkEffect, kind: string, isAnswer: boolean): boolean {
  if (type === 'refuse') return false
  if (type === 'cut') return isAnswer
  return type !== 'duplicate' || (!isAnswer && isRepeated.has(kind))
}

/** Queues after earlier messages. @returns until when the receiver or link is busy */
function occupy({ busyUntilMs }: AppliedFault, what: string, now: number, costMs: number): number {
  const untilMs = Math.max(busyUntilMs.get(what) ?? 0, now) + costMs
  busyUntilMs.set(what, untilMs)
  return untilMs
}

function blocksEverything({ kinds, times, probability }: LinkFault): boolean {
  return kinds === null && times === null && probability === 1
}

function includes(end: LinkEnd, address: Address): boolean {
  switch (end) {
    case 'everybody':
      return true
    case 'members':
      return address !== clientsAddress
    case 'shards':
      return address !== clientsAddress && isShardAddress(address)
    case 'routers':
      return isMongosAddress(address)
    default:
      return end.includes(address)
  }
}

function covers({ from, to, bothWays }: LinkFault, sender: Address, receiver: Address): boolean {
  if (isAmong(from, to, sender, receiver) || isAmong(to, from, sender, receiver)) return false
  return (
    (includes(from, sender) && includes(to, receiver)) || (bothWays && includes(from, receiver) && includes(to, sender))
  )
}

/** Several members that a fault separates from a group stay connected to each other. */
function isAmong(end: LinkEnd, other: LinkEnd, one: Address, another: Address): boolean {
  return typeof end !== 'string' && typeof other === 'string' && end.includes(one) && end.includes(another)
}

/** In either direction: a connection does not work in one direction only. */
function affectsLink(fault: LinkFault, one: Address, other: Address): boolean {
  return covers(fault, one, other) || covers(fault, other, one)
}
