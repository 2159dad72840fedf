/** Drivers' specification: Server Selection, for sharded clusters. */
import { createDeferred, type ActorContext, type Address, type Deferred } from '@shardlab/actor'
import { SelectionFailure } from './failures.js'
import type { Router } from './router.js'
import { sleepOr } from './sleep-or.js'

/** Mongoses slower than the fastest one by more than this are not selected. */
const localThresholdMs = 15

export class ServerSelection {
  readonly #context: ActorContext
  readonly #routers: readonly Router[]
  readonly #direct: (address: Address) => Router
  readonly #timeoutMs: number
  #changed: Deferred<void> = createDeferred()

  /** @param direct for members addressed by name, which need not be in `routers` */
  constructor(
    context: ActorContext,
    routers: readonly Router[],
    direct: (address: Address) => Router,
    timeoutMs: number,
  ) {
    this.#context = context
    this.#routers = routers
    this.#direct = direct
    this.#timeoutMs = timeoutMs
  }

  /** Call when new information about a mongos arrives. */
  changed(): void {
    const { resolve } = this.#changed
    this.#changed = createDeferred()
    resolve()
  }

  /**
   * @param wanted null: any mongos
   * @param avoided selected only if there is no other
   * @throws SelectionFailure
   */
  async select(wanted: Address | null, avoided: ReadonlySet<Address>): Promise<Router> {
    const deadlineMs = this.#context.now() + this.#timeoutMs
    const all = wanted === null ? this.#routers : [this.#direct(wanted)]
    for (;;) {
      const router = this.#choose(all, avoided)
      if (router !== null) return router
      for (const each of all) if (!each.isKnown) each.requestCheck()
      const leftMs = deadlineMs - this.#context.now()
      if (leftMs <= 0) throw new SelectionFailure(this.#timeoutMs)
      await sleepOr(this.#context, leftMs, this.#changed.promise)
    }
  }

  #choose(all: readonly Router[], avoided: ReadonlySet<Address>): Router | null {
    const known = all.filter(({ isKnown }) => isKnown)
    const preferred = avoided.size === 0 ? known : known.filter(({ address }) => !avoided.has(address))
    const candidates = preferred.length > 0 ? preferred : known
    if (candidates.length <= 1) return candidates[0] ?? null
    const nearestMs = Math.min(...candidates.map(({ roundTripMs }) => roundTripMs))
    const near = candidates.filter(({ roundTripMs }) => roundTripMs <= nearestMs + localThresholdMs)
    if (near.length === 1) return near[0]!
    const [one, other] = this.#context.random.shuffled(near)
    return one!.operations < other!.operations ? one! : other!
  }
}
