import {
  createRandom,
  isMongosAddress,
  isShardAddress,
  repeatedKinds,
  type Address,
  type Random,
} from '@shardlab/actor'
import type { Alarm, HostClock } from '../clock.js'
import { clientsAddress, type LinkEffect, type LinkEnd, type LinkFault } from './host-fault.js'
import { countStrike } from './strike-count.js'

/** What is on its way, and has not arrived. */
export interface Parcel {
  readonly sizeBytes: number
  deliver(): void
  /** The same arrives twice. */
  deliverTwice(): void
  /** It will never arrive. */
  lose(why: string): void
  /** The connection on which it came is gone. */
  break(why: string): void
  /** Half of it arrives, and nothing more on that connection. */
  cut(why: string): void
}

/** What link faults do to the mail of one host. */
export interface LinkFaultsOptions {
  readonly clock: HostClock
  readonly random: Random
  /** Both ends of these links have given up waiting for each other. */
  readonly onSilent: (connects: (one: Address, other: Address) => boolean, why: string) => void
}

interface Applied {
  readonly fault: LinkFault
  readonly random: Random
  /** A partition that has been noticed by everybody. */
  noticed: boolean
  notice: Alarm | null
  /** `slow`: until when it works on what has come. `limit`: until when each direction of a link is busy with what was sent. */
  readonly busyUntilMs: Map<string, number>
  /** Messages that it keeps without keeping those behind them, and when each of them is given up. */
  readonly kept: Map<Parcel, Alarm>
}

/** A message in a lane; it may go when it is due and no partition keeps it. */
interface Waiting {
  readonly parcel: Parcel
  readonly dueMs: number
  readonly twice: boolean
  keeper: Applied | null
}

/** What waits on one direction of one link, in the order in which it was sent. */
interface Lane {
  readonly name: string
  readonly from: Address
  readonly to: Address
  readonly waiting: Waiting[]
  alarm: Alarm | null
}

/**
 * The link faults that one host knows, applied to what arrives at it. While there is none, {@link active} is false and a message
 * costs one look at it.
 */
export class LinkFaults {
  active = false
  readonly #options: LinkFaultsOptions
  readonly #applied = new Map<number, Applied>()
  readonly #lanes = new Map<string, Lane>()

  constructor(options: LinkFaultsOptions) {
    this.#options = options
  }

  apply(fault: LinkFault): void {
    const { clock, random } = this.#options
    const applied: Applied = {
      fault,
      random: fault.seed === null ? random.fork(String(fault.id)) : createRandom(fault.seed),
      noticed: false,
      notice: null,
      busyUntilMs: new Map(),
      kept: new Map(),
    }
    this.#applied.set(fault.id, applied)
    this.active = true
    if (fault.effect.type === 'partition' && isWhole(fault)) {
      applied.notice = clock.alarm(fault.effect.silenceMs, () => this.#notice(applied))
    }
  }

  heal(id: number): void {
    const applied = this.#applied.get(id)
    if (applied === undefined) return
    this.#applied.delete(id)
    applied.notice?.cancel()
    for (const alarm of applied.kept.values()) alarm.cancel()
    for (const parcel of [...applied.kept.keys()]) if (applied.kept.delete(parcel)) parcel.deliver()
    for (const lane of [...this.#lanes.values()]) {
      for (const waiting of lane.waiting) if (waiting.keeper === applied) waiting.keeper = null
      this.#move(lane)
    }
    this.#settle()
  }

  /** Can no connection be made from there to there? Asked before a request is sent. */
  refuses(from: Address, to: Address, kind: string): boolean {
    for (const applied of this.#applied.values()) {
      const { effect } = applied.fault
      if (
        applied.noticed
          ? connects(applied.fault, from, to)
          : effect.type === 'refuse' && this.#strikes(applied, from, to, kind)
      )
        return true
    }
    return false
  }

  /** Something arrives: delivers it now, later, or never. `isAnswer`: to a request from `to`. */
  pass(from: Address, to: Address, kind: string, isAnswer: boolean, parcel: Parcel): void {
    const now = this.#options.clock.now()
    const name = `${from}>${to}`
    let dueMs = now
    let keeper: Applied | null = null
    let twice = false
    for (const applied of this.#applied.values()) {
      const { fault } = applied
      const { effect } = fault
      if (!isMeant(effect, kind, isAnswer) || !this.#strikes(applied, from, to, kind)) continue
      switch (effect.type) {
        case 'drop':
        case 'cut':
          return this.#break(from, to, parcel, effect.type === 'cut')
        case 'partition':
          if (applied.noticed) return parcel.lose(silent)
          if (!isWhole(fault)) return this.#keep(applied, effect.silenceMs, parcel)
          keeper = applied
          break
        case 'delay':
          dueMs += effect.minMs + applied.random.fraction() * (effect.maxMs - effect.minMs)
          break
        case 'slow':
          dueMs = Math.max(dueMs, occupy(applied, '', now, effect.perMessageMs))
          break
        case 'limit':
          dueMs += Math.ceil(occupy(applied, name, now, (parcel.sizeBytes * 1000) / effect.bytesPerSecond) - now)
          break
        case 'duplicate':
          twice = true
          break
        // Only new connections are refused.
        case 'refuse':
      }
    }
    let lane = this.#lanes.get(name)
    if (lane === undefined) {
      if (keeper === null && dueMs <= now) return twice ? parcel.deliverTwice() : parcel.deliver()
      lane = { name, from, to, waiting: [], alarm: null }
      this.#lanes.set(name, lane)
    }
    lane.waiting.push({ parcel, twice, dueMs: Math.max(dueMs, lane.waiting.at(-1)?.dueMs ?? 0), keeper })
    this.#move(lane)
  }

  /** The member is gone: what waits on its way there arrives nowhere, and who sent it knows of the end. */
  forget(address: Address): void {
    for (const lane of [...this.#lanes.values()]) if (lane.to === address) this.#close(lane)
  }

  #strikes(applied: Applied, from: Address, to: Address, kind: string): boolean {
    const { fault } = applied
    if ((fault.kinds !== null && !fault.kinds.includes(kind)) || !covers(fault, from, to)) return false
    if (fault.probability < 1 && applied.random.fraction() >= fault.probability) return false
    return countStrike(fault.strikes, fault.times)
  }

  #break(from: Address, to: Address, parcel: Parcel, half: boolean): void {
    const why = 'closed the connection before it answered'
    // Each client has a connection of its own; two members are taken to have one.
    if (from === clientsAddress || to === clientsAddress) return half ? parcel.cut(why) : parcel.lose(why)
    this.drain(from, to, why)
    parcel.break(why)
  }

  /** Nothing that waits on that way arrives. */
  drain(from: Address, to: Address, why: string): void {
    const lane = this.#lanes.get(`${from}>${to}`)
    if (lane === undefined) return
    this.#close(lane)
    for (const { parcel } of lane.waiting) parcel.lose(why)
  }

  #keep(applied: Applied, silenceMs: number, parcel: Parcel): void {
    const alarm = this.#options.clock.alarm(silenceMs, () => {
      if (applied.kept.delete(parcel)) parcel.lose(silent)
    })
    applied.kept.set(parcel, alarm)
  }

  /** By now everybody knows that nothing gets through. */
  #notice(applied: Applied): void {
    applied.noticed = true
    const hit = (one: Address, other: Address) => connects(applied.fault, one, other)
    for (const { from, to } of [...this.#lanes.values()]) if (hit(from, to)) this.drain(from, to, silent)
    this.#options.onSilent(hit, silent)
  }

  /** Delivers what may go. */
  #move(lane: Lane): void {
    lane.alarm?.cancel()
    lane.alarm = null
    for (let first = lane.waiting[0]; first !== undefined; first = lane.waiting[0]) {
      if (first.keeper !== null) return
      const leftMs = first.dueMs - this.#options.clock.now()
      if (leftMs > 0) {
        lane.alarm = this.#options.clock.alarm(leftMs, () => this.#move(lane))
        return
      }
      lane.waiting.shift()
      if (first.twice) first.parcel.deliverTwice()
      else first.parcel.deliver()
    }
    this.#close(lane)
  }

  #close(lane: Lane): void {
    lane.alarm?.cancel()
    if (this.#lanes.get(lane.name) === lane) this.#lanes.delete(lane.name)
    this.#settle()
  }

  /** With the last fault and the last message that waits, messages are as cheap as before. */
  #settle(): void {
    this.active = this.#applied.size > 0 || this.#lanes.size > 0
  }
}

const silent = 'has not been heard of for too long'

const isRepeated: ReadonlySet<string> = new Set(repeatedKinds)

/** Is it a message of the sort that the effect is about? */
function isMeant({ type }: LinkEffect, kind: string, isAnswer: boolean): boolean {
  if (type === 'refuse') return false
  if (type === 'cut') return isAnswer
  return type !== 'duplicate' || (!isAnswer && isRepeated.has(kind))
}

/** Takes time behind whatever takes it already. @returns until when */
function occupy({ busyUntilMs }: Applied, what: string, now: number, costMs: number): number {
  const untilMs = Math.max(busyUntilMs.get(what) ?? 0, now) + costMs
  busyUntilMs.set(what, untilMs)
  return untilMs
}

/** Does nothing at all get through? */
function isWhole({ kinds, times, probability }: LinkFault): boolean {
  return kinds === null && times === null && probability === 1
}

function includes(end: LinkEnd, address: Address): boolean {
  switch (end) {
    case 'everybody':
      return true
    case 'members':
      return address !== clientsAddress
    case 'shards':
      return isShardAddress(address)
    case 'routers':
      return isMongosAddress(address)
    default:
      return end.includes(address)
  }
}

function covers({ from, to, bothWays }: LinkFault, sender: Address, receiver: Address): boolean {
  return (
    (includes(from, sender) && includes(to, receiver)) || (bothWays && includes(from, receiver) && includes(to, sender))
  )
}

/** Is it a fault of this link, in either direction? No connection works in one direction only. */
function connects(fault: LinkFault, one: Address, other: Address): boolean {
  return covers(fault, one, other) || covers(fault, other, one)
}
