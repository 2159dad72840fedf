import type { ActorContext, Address, StepDetail } from '@shardlab/actor'
import type { FailPoints } from '../fail-points/fail-points.js'
import { ForwardingContext } from './forwarding-context.js'

/** A named step evaluates the fail points of the member before the faults of the world. */
export class StepContext extends ForwardingContext {
  readonly #failPoints: FailPoints
  readonly #address: () => Address

  /** @param address by which other members reach this one; a shard gets it with its identity */
  constructor(context: ActorContext, failPoints: FailPoints, address = () => context.address) {
    super(context)
    this.#failPoints = failPoints
    this.#address = address
  }

  override get address(): Address {
    return this.#address()
  }

  override reach(step: string, detail?: StepDetail): Promise<void> {
    return this.#failPoints.active ? this.#reach(step, detail) : this.context.reach(step, detail)
  }

  async #reach(step: string, detail: StepDetail | undefined): Promise<void> {
    await this.#failPoints.reach(step, detail ?? {}, this.context)
    await this.context.reach(step, detail)
  }
}
