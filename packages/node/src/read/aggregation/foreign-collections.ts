/**
 * The other collections that a pipeline reads. All are entered and frozen before the pipeline
 * starts, so joins never wait and a cursor sees one state of each. A view is replaced by the
 * collection below it.
 */
import {
  compilePipeline,
  evaluateDocuments,
  type EvaluationContext,
  type ForeignBatch,
  type ForeignCollection,
  type JoinRequest,
} from '@shardlab/query'
import type { OwnershipFilter } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import { listSource, emptySource, type QuerySettings, type TimeSlice } from '@shardlab/member'
import { PlanSource } from '../read-source.js'
import type { CursorSource } from '../../cursors/cursor-manager.js'
import { hasPaused } from '../../cursors/resume-source.js'
import { resolveView } from '../../views/resolve-view.js'
import { viewOf } from '../../views/view-catalog.js'
import { catchUpKeys } from '../catch-up-keys.js'
import { planLeading } from './leading-plan.js'
import { PipelineSource, type ForeignReader } from './pipeline-source.js'
import type { NodeInvocation } from '../../host/node-host.js'

/** Limits of one batch of a join. */
const batchCount = 1000
const batchBytes = 1024 * 1024

interface Foreign {
  /** Undefined: the collection does not exist. */
  readonly collection: Collection | undefined
  readonly ownership: OwnershipFilter | null
  /** Stages of the views above the collection. */
  readonly pipeline: readonly Uint8Array[]
}

export interface ForeignOptions {
  readonly db: string
  readonly evaluation: EvaluationContext
  readonly memoryLimitBytes: number
  /** Of the whole operation. */
  readonly slice: TimeSlice
  /** undefined: the pipeline has none */
  readonly querySettings: QuerySettings | undefined
}

/**
 * @throws CommandError 13388 StaleConfig when one of them is sharded: then the router must run the
 *   join
 */
export async function enterForeign(
  invocation: NodeInvocation,
  foreign: readonly ForeignCollection[],
  options: ForeignOptions,
): Promise<ForeignReader> {
  const entered = new Map<string, Foreign>()
  const entering = asUnsharded(invocation)
  const pending = [...foreign]
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    const ns = `${next.db ?? options.db}.${next.collection}`
    if (entered.has(ns)) continue
    const view = invocation.host.readable(ns) === undefined ? viewOf(invocation.host, ns) : null
    const below = view === null ? { ns, pipeline: [] } : resolveView(invocation.host, view)
    const { host, operation } = invocation
    const waiting = catchUpKeys(host, operation, host.readable(below.ns))
    if (waiting !== null) await waiting
    const { ownership } = await host.role.enter(below.ns, entering)
    entered.set(ns, {
      collection: host.readable(below.ns)?.snapshot(),
      ownership,
      pipeline: below.pipeline,
    })
    if (below.pipeline.length > 0) {
      const { db } = options
      pending.push(...compilePipeline(below.pipeline, options.evaluation, { db }).foreign)
    }
  }
  return new LocalReader(entered, options)
}

/**
 * The other collections are on this shard if it is the database's primary, which `databaseVersion`
 * proves. The `shardVersion` is that of the collection that the command names, so it is replaced.
 */
function asUnsharded(invocation: NodeInvocation): NodeInvocation {
  const { routed } = invocation
  if (routed === null || routed.databaseVersion === null || routed.shardVersion === 'UNSHARDED') return invocation
  return { ...invocation, routed: { ...routed, shardVersion: 'UNSHARDED' } }
}

class LocalReader implements ForeignReader {
  readonly #entered: ReadonlyMap<string, Foreign>
  readonly #options: ForeignOptions

  constructor(entered: ReadonlyMap<string, Foreign>, options: ForeignOptions) {
    this.#entered = entered
    this.#options = options
  }

  read({ read, cursor }: JoinRequest): ForeignBatch {
    const source = cursor === null ? this.#open(read) : (cursor as CursorSource)
    const documents: Uint8Array[] = []
    let bytes = 0
    while (documents.length < batchCount && bytes < batchBytes) {
      const document = source.next()
      if (document === null) return { documents, cursor: hasPaused(source) ? source : null }
      documents.push(document)
      bytes += document.length
    }
    return { documents, cursor: source }
  }

  #open({ db, collection: name, stages, variables }: JoinRequest['read']): CursorSource {
    const { evaluation, memoryLimitBytes, slice, querySettings } = this.#options
    const context = { ...evaluation, variables }
    const foreign = name === null ? undefined : this.#entered.get(`${db}.${name}`)
    const pipeline = compilePipeline([...(foreign?.pipeline ?? []), ...stages], context, { db, memoryLimitBytes })
    if (pipeline.source?.name === '$documents')
      return new PipelineSource(
        listSource(evaluateDocuments(pipeline.source.argument, context)),
        pipeline.open(),
        this,
        slice,
      )
    if (foreign?.collection === undefined) return new PipelineSource(emptySource, pipeline.open(), this, slice)
    const plan = planLeading(foreign.collection, pipeline.leading, foreign.ownership, context, {}, querySettings)
    const input = new PlanSource(plan, { slice, execute: { allowDiskUse: memoryLimitBytes === Infinity } })
    return pipeline.leading.stageCount === pipeline.stages.length
      ? input
      : new PipelineSource(input, pipeline.openAfterLeading(), this, slice)
  }
}
