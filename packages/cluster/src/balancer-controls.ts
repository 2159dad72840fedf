/** What tests and people do with the balancer of a cluster: rounds on demand, waiting until it has nothing to do, asking it why. */
import { balancerAddress, RequestFailedError, type BalancerRoundEvent } from '@shardlab/actor'
import type { BalancerExplanation } from '@shardlab/balancer'
import { decode } from '@shardlab/bson'
import type { Runtime } from '@shardlab/runtime'

export interface SettleOptions {
  /** Delete at once what migrations have left behind, and wait for that? Default false: it stays for `orphanCleanupDelaySecs`. */
  readonly rangeDeletion?: boolean
  /** Longest wait in milliseconds of the cluster's clock. Default 60000. */
  readonly timeoutMs?: number
}

/** The balancer still has something to do, or cannot do it. */
export class NotSettledError extends Error {
  override readonly name = 'NotSettledError'
  /** The last round that was waited for; null when none ended in time. */
  readonly lastRound: BalancerRoundEvent | null

  constructor(message: string, lastRound: BalancerRoundEvent | null) {
    super(message)
    this.lastRound = lastRound
  }
}

/** The clock of a cluster, and how it is waited for. */
export interface BalancerClock {
  now(): number
  sleep(ms: number): Promise<void>
}

/** Pause before another round when nothing of what the last one decided on could be done. */
const pauseMs = 50

export class BalancerControls {
  readonly #runtime: Runtime
  readonly #clock: BalancerClock

  constructor(runtime: Runtime, clock: BalancerClock) {
    this.#runtime = runtime
    this.#clock = clock
  }

  /**
   * Holds a round now, behind one that is running, and without the pauses that spare a cluster. A balancer that is stopped or outside of its
   * active window looks at nothing then either: `skipped` says so.
   */
  runRound(): Promise<BalancerRoundEvent> {
    return this.#round(undefined)
  }

  /**
   * Holds rounds until one finds nothing to split, move or defragment and no shard splits, or with `rangeDeletion` deletes, anything any more.
   * @throws NotSettledError after the time, with a sentence about what is still going on; at once when there are no rounds to be held
   */
  async settle({ rangeDeletion = false, timeoutMs = 60_000 }: SettleOptions = {}): Promise<void> {
    const deadlineMs = this.#clock.now() + timeoutMs
    let last: BalancerRoundEvent | null = null
    for (;;) {
      const leftMs = deadlineMs - this.#clock.now()
      if (leftMs <= 0)
        throw new NotSettledError(`the balancer has not settled within ${timeoutMs} ms: ${goingOn(last)}`, last)
      try {
        const worked = await this.#finishShards(rangeDeletion, leftMs)
        last = await this.#round(deadlineMs - this.#clock.now())
        if (last.skipped !== null) throw new NotSettledError(`the balancer does not settle: ${last.skipped}`, last)
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
   * Waits for what the shards have begun by themselves: automatic splits and the moves of chunks at the ends of the key space that follow them. Holds
   * no round.
   * @throws RequestFailedError when that takes longer
   */
  async idle({ timeoutMs = 60_000 }: { readonly timeoutMs?: number } = {}): Promise<void> {
    const deadlineMs = this.#clock.now() + timeoutMs
    while (await this.#finishShards(false, Math.max(1, deadlineMs - this.#clock.now()))) {
      // A chunk that has moved may grow enough meanwhile for its new shard to split it.
    }
  }

  /**
   * Why a collection is balanced, or is not: what the next round would do and what that rests on.
   * @throws Error with the server's words for a collection that is not sharded
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

  /** @returns whether any shard had something to do */
  async #finishShards(rangeDeletions: boolean, timeoutMs: number): Promise<boolean> {
    const shards = this.#runtime.members().filter(({ role, state }) => role === 'shard' && state === 'running')
    const answers = await Promise.all(
      shards.map(({ address }) =>
        this.#runtime.request(address, 'shard.finish-balancing', { rangeDeletions }, { timeoutMs }),
      ),
    )
    return answers.some(({ worked }) => worked)
  }
}

function isDone(outcome: BalancerRoundEvent['migrations'][number]['outcome']): boolean {
  return outcome !== 'failed' && outcome !== 'not-begun'
}

/** What a round has decided on, in a sentence. */
function goingOn(round: BalancerRoundEvent | null): string {
  if (round === null) return 'no round has ended, or a shard is still splitting or deleting'
  const decided = [
    ...round.splits.map(
      ({ ns, shard, error }) => `split of a chunk of ${ns} on ${shard}${error === null ? '' : ` (${error})`}`,
    ),
    ...round.migrations.map(
      ({ ns, from, to, because, error }) =>
        `${ns} from ${from} to ${to}, as ${because}${error === null ? '' : ` (${error})`}`,
    ),
  ]
  for (const { ns, phase } of round.defragmenting) decided.push(`defragmentation of ${ns} (${phase})`)
  return decided.length === 0
    ? 'a shard is still splitting or deleting'
    : `the last round decided on ${decided.join('; ')}`
}
