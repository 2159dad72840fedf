import type { BalancerRoundEvent, BlockedBalance, ClusterEvent, MigrationEvent } from '@shardlab/cluster'
import { counted, withReadableSizes } from '@shardlab/quantities'
import type { BalancingResult, Decision, VariantResult } from '../types.js'
import { periodOf, type BalancingPeriod } from './balancing-periods.js'
import type { Drains } from './drains.js'
import { rounded } from './imbalance.js'

type Reason = keyof VariantResult['migrations']['byReason']

interface Moves {
  /** By lower bound of a chunk: its shards in order. */
  readonly places: Map<string, readonly string[]>
  /** By shard: bytes that left minus bytes that arrived. */
  readonly net: Map<string, number>
}

export interface Transferred {
  readonly sent: number
  readonly received: number
}

export class Movements {
  readonly #namespaces: ReadonlySet<string>
  readonly #beginMs: number
  readonly #drains: Drains
  readonly #periods: readonly BalancingPeriod[]
  readonly #transferred = new Map<string, Transferred>()
  /** By index of the period. */
  readonly #byPeriod = new Map<number, number>()
  readonly decisions: Decision[] = []
  readonly #byReason: Record<Reason, number> = {
    draining: 0,
    zoneViolation: 0,
    chunksImbalance: 0,
    defragment: 0,
    other: 0,
  }
  /** By collection. */
  readonly #moves = new Map<string, Moves>()
  /** By id: when the migration entered its critical section. */
  readonly #entered = new Map<string, number>()
  #longestMs = 0
  #totalMs = 0
  #total = 0
  #aborted = 0
  #repeated = 0
  #returned = 0
  #bytesMoved = 0
  #lastMoveMs = 0
  #lastRound: BalancerRoundEvent | null = null
  #lastSkip: string | null = null
  /** Zones whose obstacle has been noted. */
  #noted = new Set<string>()
  splits = 0
  merges = 0

  constructor(
    namespaces: readonly string[],
    beginMs: number,
    { drains, periods }: { readonly drains: Drains; readonly periods: readonly BalancingPeriod[] },
  ) {
    this.#namespaces = new Set(namespaces)
    this.#beginMs = beginMs
    this.#drains = drains
    this.#periods = periods
  }

  readonly onEvent = (event: ClusterEvent): void => {
    const note = (kind: Decision['kind'], text: string): void =>
      void this.decisions.push({ atMs: event.atMs - this.#beginMs, kind, text })
    switch (event.type) {
      case 'migration':
        if (this.#namespaces.has(event.ns)) this.#onMigration(event)
        return
      case 'balancer-round':
        this.#onRound(event, note)
        return
      case 'split':
        if (!this.#namespaces.has(event.ns)) return
        this.splits++
        note('split', `${event.shard} splits [${event.min}, ${event.max}) of ${event.ns} at ${event.points.join(', ')}`)
        return
      case 'merge':
        if (!this.#namespaces.has(event.ns)) return
        this.merges++
        note(
          'merge',
          `${event.shard} merges ${counted(event.chunks, 'chunk')} of ${event.ns} into [${event.min}, ${event.max})`,
        )
        return
      case 'jumbo':
        note(
          'jumbo',
          `[${event.min}, ${event.max}) of ${event.ns} on ${event.shard} is marked jumbo: it is too large to move and cannot be split`,
        )
        return
      case 'fault-applied':
        note('fault', event.fault)
        return
      case 'fault-healed':
        note('fault', `ended: ${event.fault}`)
        return
      default:
    }
  }

  migrations(): VariantResult['migrations'] {
    const byBalancer = Object.values(this.#byReason).reduce((sum, count) => sum + count, 0)
    // A round in progress has not reported its reasons yet.
    const byReason = { ...this.#byReason, other: Math.max(0, this.#total - byBalancer) }
    return { total: this.#total, byReason, aborted: this.#aborted, repeated: this.#repeated, returned: this.#returned }
  }

  get bytesMoved(): number {
    return this.#bytesMoved
  }

  get bytesMovedLeast(): number {
    let least = 0
    for (const { net } of this.#moves.values()) for (const bytes of net.values()) least += Math.max(0, bytes)
    return least
  }

  /** null: the last round still moved something, or something blocked it. */
  get convergedAtMs(): number | null {
    if (this.#lastRound === null) return null
    const { migrations, splits, blocked } = this.#lastRound
    return migrations.length + splits.length + blocked.length > 0 ? null : this.#lastMoveMs
  }

  get blocked(): readonly string[] {
    return (this.#lastRound?.blocked ?? []).map((blocked) => blockedText(blocked))
  }

  /** @param nowMs later periods do not count */
  balancing(nowMs: number): BalancingResult {
    const played = this.#periods.flatMap(({ fromMs, toMs }) =>
      fromMs < nowMs ? [{ fromMs, toMs: Math.min(toMs, nowMs) }] : [],
    )
    const openMs = (periods: readonly BalancingPeriod[]): number =>
      periods.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)
    const busy = played.filter((_, i) => this.#byPeriod.has(i))
    const bytes = [...this.#byPeriod.values()].reduce((sum, each) => sum + each, 0)
    return {
      windows: played.length,
      openMs: openMs(played),
      bytesInBusiest: Math.max(0, ...this.#byPeriod.values()),
      bytesPerHour: busy.length === 0 ? 0 : Math.round((bytes * 3_600_000) / openMs(busy)),
    }
  }

  transferredBy(shard: string): Transferred {
    return this.#transferred.get(shard) ?? { sent: 0, received: 0 }
  }

  /** @param nowMs sections that are still open count until now */
  criticalSections(nowMs: number): VariantResult['criticalSections'] {
    const open = [...this.#entered.values()].map((enteredMs) => nowMs - enteredMs)
    return {
      longestMs: rounded(Math.max(this.#longestMs, ...open)),
      totalMs: rounded(open.reduce((sum, each) => sum + each, this.#totalMs)),
    }
  }

  #onMigration(event: MigrationEvent): void {
    const { id, stage, ns, from, to, min, bytes, atMs } = event
    if (stage === 'started' || stage === 'cloned') return
    if (stage === 'critical-section') {
      this.#entered.set(id, atMs)
      return
    }
    const entered = this.#entered.get(id)
    if (entered !== undefined) {
      this.#entered.delete(id)
      this.#longestMs = Math.max(this.#longestMs, atMs - entered)
      this.#totalMs += atMs - entered
    }
    if (stage === 'aborted') this.#aborted++
    if (stage !== 'committed') return
    this.#total++
    this.#bytesMoved += bytes
    this.#lastMoveMs = atMs - this.#beginMs
    this.#drains.onCommitted(event, this.#lastMoveMs)
    const period = periodOf(this.#periods, this.#lastMoveMs)
    this.#byPeriod.set(period, (this.#byPeriod.get(period) ?? 0) + bytes)
    const [donor, recipient] = [this.transferredBy(from), this.transferredBy(to)]
    this.#transferred.set(from, { ...donor, sent: donor.sent + bytes })
    this.#transferred.set(to, { ...recipient, received: recipient.received + bytes })
    let moves = this.#moves.get(ns)
    if (moves === undefined) this.#moves.set(ns, (moves = { places: new Map(), net: new Map() }))
    const { places, net } = moves
    net.set(from, (net.get(from) ?? 0) + bytes)
    net.set(to, (net.get(to) ?? 0) - bytes)
    const before = places.get(min)
    if (before !== undefined) {
      this.#repeated++
      if (before.includes(to)) this.#returned++
    }
    places.set(min, before === undefined ? [from, to] : [...before, to])
  }

  #onRound(event: BalancerRoundEvent, note: (kind: Decision['kind'], text: string) => void): void {
    if (event.skipped !== this.#lastSkip && event.skipped !== null) note('balancer', `rounds skipped: ${event.skipped}`)
    this.#lastSkip = event.skipped
    if (event.skipped !== null) return
    this.#lastRound = event
    const obstacles = new Map(event.blocked.map((each) => [`${each.ns} ${each.zone} ${each.heaviest}`, each]))
    for (const [key, each] of obstacles)
      if (!this.#noted.has(key)) note('balancer', `round ${event.round}: ${blockedText(each)}`)
    this.#noted = new Set(obstacles.keys())
    for (const { ns, shard, min, max, points, error } of event.splits)
      note(
        'split',
        `round ${event.round}: split [${min}, ${max}) of ${ns} on ${shard} at ${points.join(', ')}, the bounds of a zone${failed(error)}`,
      )
    for (const { ns, from, to, min, max, reason, because, outcome, error } of event.migrations) {
      if (outcome === 'moved') this.#byReason[reason]++
      const range = `[${min}, ${max ?? '…'})`
      const parts = [
        'round ',
        event.round,
        ': ',
        range,
        ' of ',
        ns,
        ' from ',
        from,
        ' to ',
        to,
        ', ',
        reason,
        ': ',
        withReadableSizes(because),
        '; ',
      ]
      // A joined string is flat; a concatenated one would keep thousands of parts alive.
      note('migration', [...parts, became(outcome, error)].join(''))
    }
  }
}

/**
 * Drops the server's wording of the size of a too large chunk; the split or mark gets a line of its
 * own.
 */
function became(outcome: BalancerRoundEvent['migrations'][number]['outcome'], error: string | null): string {
  if (outcome === 'split') return 'too large to move, split instead'
  if (outcome === 'jumbo') return 'too large to move, cannot be split'
  return `${outcome === 'not-begun' ? 'not started' : outcome}${failed(error)}`
}

const blockedText = ({ ns, because }: BlockedBalance): string => `${ns}: ${withReadableSizes(because)}`

const failed = (error: string | null): string => (error === null ? '' : ` (${error})`)
