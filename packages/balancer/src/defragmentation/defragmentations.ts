/**
 * Actions on shards run next to the rounds; migrations are part of rounds. Server:
 * balancer_defragmentation_policy.cpp, Balancer::_consumeActionStreamLoop.
 */
import { configAddress, RequestFailedError, StepFailedError } from '@shardlab/actor'
import { CommandError, ErrorCodes, findField, hexOf, isRetriableErrorCode } from '@shardlab/bson'
import type { AttemptedMove } from '../rounds/chunk-operations.js'
import { configTimeoutMs, type CollectionSwitches } from '../cluster-view.js'
import { ActionRunner } from './action-runner.js'
import type { Defragmentation, DefragmentationParts, WantedMove } from './defragmentation.js'
import { MergeAndMeasureChunksPhase, MergeChunksPhase, SplitChunksPhase } from './merge-phases.js'
import { MoveAndMergeChunksPhase } from './move-and-merge.js'
import { isPhase, zonesOf, type MoveOutcome, type Phase, type PhaseName } from './phase.js'

const actionsMax = 50

export class Defragmentations {
  readonly #parts: DefragmentationParts
  readonly #runner: ActionRunner
  /** By UUID as hex. */
  readonly #collections = new Map<string, Defragmentation>()
  #working: Promise<void> | null = null
  /** New work may have been added for collections that the workers have already visited. */
  #again = false

  constructor(parts: DefragmentationParts) {
    this.#parts = parts
    this.#runner = new ActionRunner(parts)
  }

  /**
   * @param document of config.collections
   * @returns null: the balancer does not defragment the collection
   */
  phaseOf(document: Uint8Array): Phase | null {
    return this.#collections.get(uuidOf(document))?.phase ?? null
  }

  get active(): { readonly ns: string; readonly phase: PhaseName }[] {
    return [...this.#collections.values()].map(({ ns, phase }) => ({ ns, phase: phase.name }))
  }

  /** Starts and ends defragmentations as the catalog requires. Called at the start of a round. */
  async refresh(collections: readonly CollectionSwitches[]): Promise<void> {
    const wanted = new Map(
      collections
        .filter((each) => each.isDefragmenting && !each.isUnsplittable)
        .map((each) => [uuidOf(each.document), each]),
    )
    for (const uuid of this.#collections.keys()) if (!wanted.has(uuid)) this.#collections.delete(uuid)
    for (const [uuid, collection] of wanted) {
      const known = this.#collections.get(uuid)
      if (known === undefined) await this.#begin(collection)
      else {
        known.isWaiting = false
        const { defragmentationPhase } = collection
        if (defragmentationPhase !== null && defragmentationPhase !== known.phase.name)
          known.phase.abort(this.#meant(defragmentationPhase))
      }
    }
  }

  /** Runs all actions that are due on shards, next to the rounds. */
  work(): void {
    if (this.#collections.size === 0) return
    this.#again = true
    this.#working ??= this.#work().finally(() => {
      this.#working = null
    })
  }

  /** Resolves when no action is due before the next round. */
  async idle(): Promise<void> {
    await this.#working
  }

  /**
   * Removes the shards of the selected migrations from `available`.
   * @param shuffled puts collections into a random order
   */
  selectMoves(available: Set<string>, shuffled: <T>(values: readonly T[]) => T[]): WantedMove[] {
    const moves: WantedMove[] = []
    let open = shuffled([...this.#collections.values()])
    while (open.length > 0) {
      open = open.filter((defragmentation) => {
        const { phase } = defragmentation
        const move = available.size === 0 ? null : phase.nextMove(available)
        if (move !== null) moves.push({ defragmentation, phase, move })
        return move !== null
      })
    }
    return moves
  }

  moved({ phase, move }: WantedMove, result: AttemptedMove | null): void {
    phase.moved(move, outcomeOf(result))
  }

  async #begin({ ns, document, defragmentationPhase }: CollectionSwitches): Promise<void> {
    const uuid = findField(document, 'uuid')!.asBinary().slice()
    const phase = await this.#enter({
      ns,
      uuid,
      from: defragmentationPhase,
      to: this.#meant(defragmentationPhase ?? 'mergeAndMeasureChunks'),
    })
    if (phase !== null) this.#collections.set(hexOf(uuid), { ns, uuid, phase, isWaiting: false, isEntering: false })
  }

  /** Unknown phases, and those that the version does not have, mean the end. */
  #meant(phase: string): PhaseName {
    if (!isPhase(phase) || (phase === 'splitChunks' && !this.#parts.behaviours.defragmentationSplitsChunks))
      return 'finished'
    return phase
  }

  /**
   * Advances to the first phase that has work to do.
   * @returns null: the defragmentation has ended
   */
  async #enter({
    ns,
    uuid,
    from,
    to,
  }: {
    ns: string
    uuid: Uint8Array
    from: string | null
    to: PhaseName
  }): Promise<Phase | null> {
    const { context, stopping } = this.#parts
    for (;;) {
      if (from !== to || to === 'finished') {
        await context.reach('balancer.defragmentation.phase', { ns, phase: to })
        const options = { timeoutMs: configTimeoutMs, signal: stopping }
        const answer = await context.request(
          configAddress,
          'config.set-defragmentation-phase',
          { ns, uuid, from, to },
          options,
        )
        if (answer.phase === null) return null
        from = answer.phase
        if (from !== to || to === 'finished') {
          // A client has ended the defragmentation in the meantime.
          to = this.#meant(from)
          continue
        }
      }
      const phase = await this.#build(ns, to)
      if (phase === null) return null
      context.log('info', 'a collection is being defragmented', { ns, phase: to, remaining: phase.remaining })
      if (!phase.isComplete) return phase
      to = phase.next
    }
  }

  async #build(ns: string, name: PhaseName): Promise<Phase | null> {
    const { view, behaviours } = this.#parts
    const collection = await view.collection(ns, true)
    if (collection === null) return null
    const { chunks } = collection.chunks
    const zoneOf = zonesOf(collection.distribution)
    const maxChunkSizeBytes = collection.maxChunkSizeBytes ?? (await view.chunkSizeBytes())
    switch (name) {
      case 'mergeAndMeasureChunks':
        return new MergeAndMeasureChunksPhase(chunks, zoneOf)
      case 'moveAndMergeChunks': {
        const shards = await view.shards()
        const sizes = await view.sizes(shards, [ns])
        const loads = shards.map(({ id, isDraining }) => ({ id, isDraining, bytes: sizes.get(id)?.[0] ?? 0 }))
        return new MoveAndMergeChunksPhase(chunks, loads, zoneOf, maxChunkSizeBytes)
      }
      case 'mergeChunks':
        return new MergeChunksPhase(chunks, zoneOf, behaviours.defragmentationSplitsChunks)
      case 'splitChunks':
        return new SplitChunksPhase(chunks, maxChunkSizeBytes)
      default:
        return null
    }
  }

  async #work(): Promise<void> {
    while (this.#again) {
      this.#again = false
      await this.#parts.context.all(Array.from({ length: actionsMax }, () => this.#workOne()))
    }
  }

  async #workOne(): Promise<void> {
    for (const [uuid, defragmentation] of this.#collections) {
      try {
        await this.#workOn(uuid, defragmentation)
      } catch (error) {
        if (
          !(error instanceof RequestFailedError) &&
          !(error instanceof StepFailedError) &&
          !(error instanceof CommandError)
        )
          throw error
        // The next round starts it again from the phase in the catalog.
        this.#collections.delete(uuid)
        this.#parts.context.log('warn', 'a defragmentation was interrupted', {
          ns: defragmentation.ns,
          reason: error.message,
        })
      }
    }
  }

  async #workOn(uuid: string, defragmentation: Defragmentation): Promise<void> {
    const { ns, uuid: bytes } = defragmentation
    const isCurrent = () =>
      this.#collections.get(uuid) === defragmentation && !defragmentation.isWaiting && this.#parts.mayWork()
    if (defragmentation.isEntering) return
    while (isCurrent()) {
      const { phase } = defragmentation
      if (phase.isComplete) {
        defragmentation.isEntering = true
        const next = await this.#enter({ ns, uuid: bytes, from: phase.name, to: phase.next })
        defragmentation.isEntering = false
        if (next === null) this.#collections.delete(uuid)
        else defragmentation.phase = next
        this.#again = true
        return
      }
      const action = phase.nextAction()
      if (action === null) return
      const outcome = await this.#runner.run(defragmentation, action)
      if (outcome.status === 'retry') defragmentation.isWaiting = true
      phase.applied(action, outcome)
    }
  }
}

function uuidOf(document: Uint8Array): string {
  return hexOf(findField(document, 'uuid')!.asBinary())
}

/** @param result null: not started, or its outcome is unknown */
function outcomeOf(result: AttemptedMove | null): MoveOutcome {
  if (result === null) return 'retry'
  if (result.error === null) return 'done'
  const code = findField(result.error, 'code')?.asNumber() ?? null
  const message = findField(result.error, 'errmsg')?.asString() ?? ''
  if (code === ErrorCodes.ChunkTooBig || code === ErrorCodes.ExceededMemoryLimit) return 'too-large'
  if (code !== null && isRetriableErrorCode(code)) return 'retry'
  // A donor reports the recipient's error only in its text.
  if (code === ErrorCodes.OperationFailed && /ExceededTimeLimit|orphans cleanup routine/.test(message))
    return 'not-deleted-yet'
  return 'failed'
}
