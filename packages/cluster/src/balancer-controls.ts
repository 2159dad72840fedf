import { balancerAddress, RequestFailedError, type BalancerRoundEvent } from '@shardlab/actor'
import type { BalancerExplanation } from '@shardlab/balancer'
import { decode } from '@shardlab/bson'
import type { Runtime } from '@shardlab/runtime'
import { primaryOf } from './sets/primary-of.js'

export interface SettleOptions {
  /**
   * Also delete the orphans of migrations, at once. Default false: they stay for
   * `orphanCleanupDelaySecs`.
   */
  readonly rangeDeletion?: boolean
  /** Milliseconds of the cluster's clock. Default 60000. */
  readonly timeoutMs?: number
}

/** The balancer still has work, or cannot do it. */
export class NotSettledError extends Error {
  override readonly name = 'NotSettledError'
  /** null: no round completed in time. */
  readonly lastRound: BalancerRoundEvent | null

  constructor(message: string, lastRound: BalancerRoundEvent | null) {
    super(message)
    this.lastRound = lastRound
  }
}

export interface BalancerClock {
  now(): number
  sleep(ms: number): Promise<void>
}

/** Before another round when all actions of the last one failed. */
const pauseMs = 50

export class BalancerControls {
  readonly #runtime: Runtime
  readonly #clock: BalancerClock

  constructor(runtime: Runtime, clock: BalancerClock) {
    this.#runtime = runtime
    this.#clock = clock
  }

  /**
   * Holds a round now, or after the one that is running, without the pauses between migrations. A
   * balancer that is stopped or outside its active window does nothing in this round either;
   * `skipped` contains the reason.
   */
  runRound(): Promise<BalancerRoundEvent> {
    return this.#round(undefined)
  }

  /**
   * Holds rounds until one finds nothing to split, move or defragment, and no shard is splitting
   * or, with `rangeDeletion`, deleting.
   * @throws NotSettledError with the remaining work, after `timeoutMs`; at once if the balancer
   * skips rounds
   */
  async settle({ rangeDeletion = false, timeoutMs = 60_000 }: SettleOptions = {}): Promise<void> {
    const deadlineMs = this.#clock.now() + timeoutMs
    let last: BalancerRoundEvent | null = null
    for (;;) {
      const leftMs = deadlineMs - this.#clock.now()
      if (leftMs <= 0)
        throw new NotSettledError(`the balancer has not settled within ${timeoutMs} ms: ${remainingWork(last)}`, last)
      try {
        const worked = await this.#finishShards(rangeDeletion, leftMs)
        last = await this.#round(deadlineMs - this.#clock.now())
        if (last.skipped !== null) throw new NotSettledError(`the balancer holds no rounds: ${last.skipped}`, last)
        const isQuiet = last.splits.length + last.migrations.length + last.defragmenting.length === 0
        if (isQuiet && !worked) return
        if (
          !isQuiet &&
          !last.splits.some(({ error }) => error === null) &&
          !last.migrations.some(({ outcome }) => isDone(outcome))
        )
          await this.#clock.sleep(pauseMs)
      } catch (error) {
        if (!(error instanceof RequestFailedError) || error.reason !== 'timed-out') throw error
      }
    }
  }

  /**
   * Waits for work that shards start themselves: automatic splits, and the moves of chunks at the
   * ends of the key space that follow them. Holds no round.
   * @throws RequestFailedError when it takes longer than `timeoutMs`
   */
  async idle({ timeoutMs = 60_000 }: { readonly timeoutMs?: number } = {}): Promise<void> {
    const deadlineMs = this.#clock.now() + timeoutMs
    while (await this.#finishShards(false, Math.max(1, deadlineMs - this.#clock.now()))) {
      // A chunk that has moved may have grown enough for its new shard to split it.
    }
  }

  /**
   * Explains what the next round would do with a collection, and why.
   * @throws Error with the server's text for a collection that is not sharded
   */
  async explain(ns: string): Promise<BalancerExplanation> {
    const { explanation, error } = await this.#runtime.request(balancerAddress, 'balancer.explain', { ns })
    if (error !== null) throw new Error(String(decode(error)['errmsg']))
    return JSON.parse(explanation) as BalancerExplanation
  }

  async #round(timeoutMs: number | undefined): Promise<BalancerRoundEvent> {
    const options = timeoutMs === undefined ? {} : { timeoutMs: Math.max(1, timeoutMs) }
    const { report } = await this.#runtime.request(balancerAddress, 'balancer.run-round', {}, options)
    return JSON.parse(report) as BalancerRoundEvent
  }

  /** @returns whether any shard had work */
  async #finishShards(rangeDeletions: boolean, timeoutMs: number): Promise<boolean> {
    const members = this.#runtime.members().filter(({ role, state }) => role === 'shard' && state === 'running')
    const sets = new Set(members.map(({ set }) => set))
    const primaries = await Promise.all([...sets].map((set) => primaryOf(this.#runtime, set)))
    const answers = await Promise.all(
      primaries
        .filter((primary) => primary !== null)
        .map((primary) => this.#runtime.request(primary, 'shard.finish-balancing', { rangeDeletions }, { timeoutMs })),
    )
    return answers.some(({ worked }) => worked)
  }
}

function isDone(outcome: BalancerRoundEvent['migrations'][number]['outcome']): boolean {
  return outcome !== 'failed' && outcome !== 'not-begun'
}

function remainingWork(round: BalancerRoundEvent | null): string {
  if (round === null) return 'no round has completed, or a shard is still splitting or deleting'
  const decided = [
    ...round.splits.map(
      ({ ns, shard, error }) => `split of a chunk of ${ns} on ${shard}${error === null ? '' : ` (${error})`}`,
    ),
    ...round.migrations.map(
      ({ ns, from, to, because, error }) =>
        `${ns} from ${from} to ${to}, because ${because}${error === null ? '' : ` (${error})`}`,
    ),
  ]
  for (const { ns, phase } of round.defragmenting) decided.push(`defragmentation of ${ns} (${phase})`)
  return decided.length === 0
    ? 'a shard is still splitting or deleting'
    : `the last round decided: ${decided.join('; ')}`
}
