import {
  compareOpTimes,
  type Effect,
  type OpTime,
  type ReplicaSetConfig,
  type ReplicationCoordinator,
  type ReplicationRules,
  type TimedOpTime,
} from '@shardlab/replication'
import { Random } from './random.js'
import { Schedule } from './schedule.js'
import { SimulatedMember } from './simulated-member.js'
import type { Defect, Handlers, Peer, World } from './world.js'

/** A whole set in virtual time: coordinators, oplogs and a network that loses, delays and parts. */
export class SimulatedSet implements World {
  readonly name = 'rs'
  readonly schedule = new Schedule()
  readonly random: Random
  readonly rules: ReplicationRules
  readonly members: SimulatedMember[]
  readonly defects: ReadonlySet<Defect>
  /** Pairs of hosts that cannot reach each other. */
  readonly cut = new Set<string>()
  readonly #events: { readonly atMs: number; readonly host: string; readonly effect: Effect }[] = []
  /** Winner of each term. */
  readonly primaries = new Map<number, string>()
  /** Entries that a commit point covered, in the order of the oplog. */
  readonly history: OpTime[] = []
  /** How much of a member's oplog is known to equal the history. */
  readonly #checked = new Map<Peer, number>()
  readonly acknowledged: OpTime[] = []
  /** No message is slow. */
  calm = false
  elections = 0
  rollbacks = 0
  reconfigurations = 0

  constructor(seed: number, config: ReplicaSetConfig, rules: ReplicationRules, defects: readonly Defect[] = []) {
    this.random = new Random(seed)
    this.rules = rules
    this.defects = new Set(defects)
    this.members = config.members.map(({ host }) => new SimulatedMember(this, host))
    for (const [index, member] of this.members.entries()) {
      // As after initiation: everyone has the first entry and the configuration.
      member.disk.config = config
      const first: TimedOpTime = { optime: { ts: [1, 1], term: 0 }, wallMs: 1000 }
      if (config.members[index]!.arbiterOnly) continue
      member.oplog.push(first)
      member.durableCount = 1
    }
    for (const member of this.members) member.start()
  }

  get nowMs(): number {
    return this.schedule.nowMs
  }

  member(host: string): SimulatedMember {
    return this.members.find((member) => member.host === host)!
  }

  get writablePrimaries(): SimulatedMember[] {
    return this.members.filter(({ coordinator }) => coordinator?.isWritablePrimary === true)
  }

  isCut(a: Peer, b: Peer): boolean {
    return this.cut.has(pair(a, b))
  }

  part(a: Peer, b: Peer): void {
    this.cut.add(pair(a, b))
  }

  /** One way; lost without a trace if the receiver cannot be reached. */
  send(from: Peer, to: Peer, deliver: (coordinator: ReplicationCoordinator) => void): void {
    this.schedule.after(this.#delayMs(), () => {
      if (to.coordinator === null || this.isCut(from, to)) return
      deliver(to.coordinator)
      to.carryOut()
    })
  }

  request<R>(
    from: Peer,
    to: Peer,
    timeoutMs: number,
    handlers: Handlers<R> & { readonly answer: (coordinator: ReplicationCoordinator) => R },
  ): void {
    this.requestAsync<R>(from, to, timeoutMs, {
      ...handlers,
      answer: (member, reply) => {
        reply(handlers.answer(member.coordinator!))
        member.carryOut()
      },
    })
  }

  requestAsync<R>(
    from: Peer,
    to: Peer,
    timeoutMs: number,
    handlers: Handlers<R> & { readonly answer: (member: Peer, reply: (reply: R) => void) => void },
  ): void {
    let done = false
    const finish = (run: (coordinator: ReplicationCoordinator) => void) => {
      if (done) return
      done = true
      run(from.coordinator!)
    }
    from.later(timeoutMs, () => finish(handlers.failed))
    this.schedule.after(this.#delayMs(), () => {
      if (this.isCut(from, to)) return
      if (to.coordinator === null) {
        // The connection is refused.
        from.later(1, () => finish(handlers.failed))
        return
      }
      handlers.answer(to, (reply) => {
        const delayMs = this.#delayMs()
        if (this.isCut(from, to)) return
        from.later(delayMs, () => {
          if (!this.isCut(from, to)) finish((coordinator) => handlers.replied(coordinator, reply))
        })
      })
    })
  }

  #delayMs(): number {
    return !this.calm && this.random.chance(0.01) ? this.random.between(100, 3000) : this.random.between(1, 10)
  }

  trace(member: Peer, effect: Effect): void {
    if (effect.kind === 'heartbeat' || effect.kind === 'report-position') return
    this.#events.push({ atMs: this.nowMs, host: member.host, effect })
    if (this.#events.length > 200) this.#events.splice(0, 100)
  }

  /** The last effects, for the report of a failure. */
  get events(): string[] {
    return this.#events.map(({ atMs, host, effect }) => `${atMs} ${host} ${JSON.stringify(effect)}`)
  }

  /** @throws Error when a term has two primaries */
  elected(member: Peer, term: number): void {
    this.elections++
    const other = this.primaries.get(term)
    if (other !== undefined && other !== member.host)
      throw new Error(`term ${term} has two primaries: ${other}, ${member.host}`)
    this.primaries.set(term, member.host)
  }

  /**
   * A commit point covers this member's oplog up to `optime`.
   * @throws Error when the member has another entry than the committed history at any place
   */
  committed(member: Peer, optime: OpTime): void {
    if (member.isArbiter) return
    const { history } = this
    for (let i = this.#checked.get(member) ?? 0; i < member.oplog.length; i++) {
      const own = member.oplog[i]!.optime
      if (compareOpTimes(own, optime) > 0) break
      const known = history[i]
      if (known === undefined) history.push(own)
      else if (compareOpTimes(known, own) !== 0) {
        throw new Error(`${member.host} commits ${text(own)} at ${i}, where ${text(known)} is committed`)
      }
      this.#checked.set(member, i + 1)
    }
  }

  /** @throws Error when committed entries are rolled back */
  rolledBack(member: Peer, count: number): void {
    this.rollbacks++
    const checked = this.#checked.get(member) ?? 0
    if (count < checked) throw new Error(`${member.host} rolls back ${checked - count} committed entries`)
  }

  restarted(member: SimulatedMember): void {
    this.#checked.set(member, Math.min(this.#checked.get(member) ?? 0, member.durableCount))
  }

  /** A client's write with write concern majority on any member that accepts writes. */
  write(): void {
    const primaries = this.writablePrimaries
    if (primaries.length === 0) return
    const primary = this.random.pick(primaries)
    const { optime } = primary.append()
    primary.carryOut()
    const await_ = () => {
      const { coordinator } = primary
      if (coordinator === null || coordinator.state.term !== optime.term || !coordinator.state.isPrimary) return
      if (coordinator.isCommitted(optime)) this.acknowledged.push(optime)
      else primary.later(50, await_)
    }
    primary.later(10, await_)
  }

  /** @throws Error when a writable primary lacks an acknowledged write */
  checkMember(member: Peer): void {
    const { coordinator } = member
    if (coordinator?.isWritablePrimary !== true || this.#complete.has(coordinator)) return
    this.#complete.add(coordinator)
    for (const [index, optime] of this.history.entries()) {
      const own = member.oplog[index]
      if (own === undefined || compareOpTimes(own.optime, optime) !== 0) {
        // An old primary that does not know yet that it was replaced lacks newer terms.
        if (optime.term > coordinator.state.term) break
        throw new Error(`primary ${member.host} of term ${coordinator.state.term} lacks ${text(optime)}`)
      }
    }
  }

  #complete = new WeakSet<ReplicationCoordinator>()
}

const pair = (a: Peer, b: Peer): string => (a.host < b.host ? `${a.host} ${b.host}` : `${b.host} ${a.host}`)

const text = ({ ts, term }: OpTime): string => `${ts[0]}.${ts[1]}/t${term}`
