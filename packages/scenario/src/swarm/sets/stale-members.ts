import type { Address } from '@shardlab/actor'
import { SimulationFailedError, TurnLimitError } from '@shardlab/cluster'
import type { SwarmWorld } from '../world.js'
import type { MemberView } from '../../sets/replica-sets.js'

const betweenLooksMs = 5000
/** Of the administrator, for a set to become ready. */
const patienceMs = 60_000

/**
 * An administrator who gives members an empty disk, so that they copy their data again: those that
 * are too stale, and those that have diverged from their set without an entry in common.
 */
export class StaleMembers {
  readonly #world: SwarmWorld
  readonly #helping = new Set<Address>()
  /** Members that had no entry in common with their set. */
  readonly #diverged = new Set<Address>()

  constructor(world: SwarmWorld) {
    this.#world = world
  }

  /**
   * Call it when a member is too stale. Helps only sets that would never have a majority again: no
   * stale member can be elected, so an empty disk loses nothing that a majority had. Never rejects:
   * Node.js reports a rejection that is not handled when the next run of the thread is played.
   */
  async help(member: Address): Promise<void> {
    const { sets, verdicts } = this.#world
    const set = sets.setOf(member)!
    if (this.#helping.has(set)) return
    this.#helping.add(set)
    try {
      await this.#helpSet(set)
    } catch (error) {
      // The run reports them.
      if (error instanceof SimulationFailedError || error instanceof TurnLimitError) return
      verdicts.failed('invariants', `a member of ${set} that is too stale got no help: ${(error as Error).message}`)
    } finally {
      this.#helping.delete(set)
    }
  }

  async #helpSet(set: Address): Promise<void> {
    const { cluster, sets } = this.#world
    for (;;) {
      const stale = (await sets.viewsOf(set)).filter(isStale)
      const members = sets.membersOf(set).length
      if (2 * (members - stale.length) > members) break
      await this.#replaceDisk(stale[0]!)
      await cluster.advance(betweenLooksMs)
    }
  }

  failedToRollBack(member: Address): void {
    this.#diverged.add(member)
  }

  rolledBack(member: Address): void {
    this.#diverged.delete(member)
  }

  /** Call it when all faults are healed. One member after the other copies its data. */
  async helpAll(): Promise<void> {
    const { sets } = this.#world
    for (const set of sets.names)
      for (const member of sets.membersOf(set)) {
        const view = (await sets.viewsOf(set)).find(({ address }) => address === member)
        if (view === undefined || !(isStale(view) || (await this.#remainsDiverged(view)))) continue
        await this.#replaceDisk(view)
        await this.#until(set, (views) => views.some(({ address, state }) => address === member && hasData(state)))
      }
  }

  /**
   * Whether it applies nothing although its set has a primary: after a failed rollback, another
   * source may have its entries.
   */
  async #remainsDiverged({ address, set }: MemberView): Promise<boolean> {
    const { cluster, sets } = this.#world
    if (!this.#diverged.delete(address)) return false
    if (!(await this.#until(set, (views) => views.some(({ isWritable }) => isWritable)))) return false
    const positionsOf = async (): Promise<readonly [own: string, primary: string]> => {
      const views = await sets.viewsOf(set)
      const own = views.find((view) => view.address === address)
      return [String(own?.lastApplied), String(views.find(({ isWritable }) => isWritable)?.lastApplied)]
    }
    const [before] = await positionsOf()
    await cluster.advance(betweenLooksMs)
    const [own, primary] = await positionsOf()
    return own === before && own !== primary
  }

  /** @returns whether it came true in time */
  async #until(set: Address, isTrue: (views: readonly MemberView[]) => boolean): Promise<boolean> {
    const { cluster, sets } = this.#world
    const untilMs = cluster.now() + patienceMs
    for (;;) {
      if (isTrue(await sets.viewsOf(set))) return true
      if (cluster.now() >= untilMs) return false
      await cluster.advance(betweenLooksMs)
    }
  }

  #replaceDisk({ address }: MemberView): Promise<boolean> {
    this.#diverged.delete(address)
    return this.#world.applyFault(`destroy ${address} for 1s`)
  }
}

const isStale = ({ state }: MemberView): boolean => state === 'RECOVERING'

const hasData = (state: string): boolean => state === 'PRIMARY' || state === 'SECONDARY'
