/**
 * The collections that are being defragmented: what is done on their shards while rounds go on, and the migrations that rounds make for them.
 * Server: balancer_defragmentation_policy.cpp, Balancer::_consumeActionStreamLoop.
 */
import {
  configAddress,
  RequestFailedError,
  StepFailedError,
  type ActorContext,
  type CancelSignal,
} from '@shardlab/actor'
import { CommandError, ErrorCodes, findField, hexOf, isRetriableErrorCode } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import type { AttemptedMove, ChunkOperations } from '../chunk-operations.js'
import { configTimeoutMs, type ClusterView, type CollectionSwitches } from '../cluster-view.js'
import type { SettingsReader } from '../settings-reader.js'
import { ActionRunner } from './action-runner.js'
import { MergeAndMeasureChunksPhase, MergeChunksPhase, SplitChunksPhase } from './merge-phases.js'
import { MoveAndMergeChunksPhase } from './move-and-merge.js'
import { isPhase, zonesOf, type DefragmentationMove, type MoveOutcome, type Phase, type PhaseName } from './phase.js'

/** How many actions are under way at a time. */
const actionsMax = 50

export interface Defragmentation {
  readonly ns: string
  readonly uuid: Uint8Array
  phase: Phase
  /** Something has to be tried again: by the next round, not at once. */
  isWaiting: boolean
  /** Somebody finds out what comes after the phase. */
  isEntering: boolean
}

/** A migration that a phase wants. */
export interface WantedMove {
  readonly defragmentation: Defragmentation
  readonly phase: Phase
  readonly move: DefragmentationMove
}

export interface DefragmentationParts {
  readonly context: ActorContext
  readonly behaviours: Behaviours
  readonly view: ClusterView
  readonly operations: ChunkOperations
  readonly settings: SettingsReader
  /** Aborted when the member shuts down. */
  readonly stopping: CancelSignal
  /** May the balancer do anything now? */
  readonly mayWork: () => boolean
}

export class Defragmentations {
  readonly #parts: DefragmentationParts
  readonly #runner: ActionRunner
  /** By UUID as hex. */
  readonly #collections = new Map<string, Defragmentation>()
  #working: Promise<void> | null = null
  /** There may be more to do than those who work have seen. */
  #again = false

  constructor(parts: DefragmentationParts) {
    this.#parts = parts
    this.#runner = new ActionRunner(parts)
  }

  /** In which phase a collection is; null: the balancer does not work on it. @param document of config.collections */
  phaseOf(document: Uint8Array): Phase | null {
    return this.#collections.get(uuidOf(document))?.phase ?? null
  }

  get active(): { readonly ns: string; readonly phase: PhaseName }[] {
    return [...this.#collections.values()].map(({ ns, phase }) => ({ ns, phase: phase.name }))
  }

  /** Begins and ends what the catalog says, at the beginning of a round. */
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

  /** Has everything done that is to be done on shards, beside the rounds. */
  work(): void {
    if (this.#collections.size === 0) return
    this.#again = true
    this.#working ??= this.#work().finally(() => {
      this.#working = null
    })
  }

  /** Answers when there is nothing to be done on shards before the next round. */
  async idle(): Promise<void> {
    await this.#working
  }

  /** The migrations that the phases want now; their shards are taken out of `available`. @param shuffled puts collections in some order */
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

  /** A phase that the version does not have, or that nobody knows, is the end. */
  #meant(phase: string): PhaseName {
    if (!isPhase(phase) || (phase === 'splitChunks' && !this.#parts.behaviours.defragmentationSplitsChunks))
      return 'finished'
    return phase
  }

  /** Goes on until a phase has something to do. @returns null when it is all over */
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
          // Somebody has ended it meanwhile.
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
        // The next round begins it anew, where the catalog has it.
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

/** @param result null: nobody knows, or it was not begun */
function outcomeOf(result: AttemptedMove | null): MoveOutcome {
  if (result === null) return 'retry'
  if (result.error === null) return 'done'
  const code = findField(result.error, 'code')?.asNumber() ?? null
  const message = findField(result.error, 'errmsg')?.asString() ?? ''
  if (code === ErrorCodes.ChunkTooBig || code === ErrorCodes.ExceededMemoryLimit) return 'too-large'
  if (code !== null && isRetriableErrorCode(code)) return 'retry'
  // A donor tells what the recipient has failed with by its words alone.
  if (code === ErrorCodes.OperationFailed && /ExceededTimeLimit|orphans cleanup routine/.test(message))
    return 'not-deleted-yet'
  return 'failed'
}
