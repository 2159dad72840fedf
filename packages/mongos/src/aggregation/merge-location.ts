/**
 * Server: cluster_aggregation_planner.cpp, `Pipeline::canRunOnMongos`, `needsPrimaryShardMerger`
 * and, since 8.0, `needsSpecificShardMerger`; `findOwningShard` of common_process_interface.cpp.
 */
import { configAddress } from '@shardlab/actor'
import { firstFieldName } from '@shardlab/bson'
import {
  mergeRequirements,
  parseMerge,
  parseOut,
  type ForeignCollection,
  type MergeRequirement,
  type OuterStage,
} from '@shardlab/query'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { MongosInvocation } from '../host/mongos-host.js'
import { isConfigDatabase } from '../routing/route.js'

/** Shown by explain. */
export type MergeType = 'mongos' | 'anyShard' | 'primaryShard' | 'specificShard'

export interface MergedPipeline {
  /** Without the writing stage. */
  readonly stages: readonly Uint8Array[]
  readonly writer: OuterStage | null
}

/**
 * The shard that must merge because a stage reads or writes there; null: any member may. A pipeline
 * that goes to one other shard is split for it.
 * @throws CommandError 133, 6, 50
 */
export async function shardThatMerges(
  invocation: MongosInvocation,
  { stages, writer }: MergedPipeline,
): Promise<string | null> {
  const { host, db } = invocation
  const { routersMerge, ownersMerge } = host.behaviours
  // The primary shard merges every split pipeline, but only a writing stage forces a split.
  if (!routersMerge) return writer === null ? null : primaryOf(invocation, db)
  const needs = stages.some(mayJoin)
    ? needsOf(invocation, stages).filter(({ stage, foreign }) => stage !== '$unionWith' && foreign.length > 0)
    : []
  if (!ownersMerge) {
    const needsPrimary =
      (await anyOf(needs, ({ foreign }) => readsUnsharded(invocation, foreign[0]!))) ||
      (writer !== null && (writer.name === '$out' || !(await isSharded(invocation, targetOf(writer, db)))))
    return needsPrimary ? primaryOf(invocation, db) : null
  }
  for (const { foreign } of needs) {
    const owner = await ownerOfRead(invocation, foreign[0]!)
    if (owner !== null) return owner
  }
  return writer === null ? null : ownerOf(invocation, targetOf(writer, db))
}

/** Spares most pipelines the full analysis. */
function mayJoin(stage: Uint8Array): boolean {
  return joining.has(firstFieldName(stage)!)
}

const joining: ReadonlySet<string> = new Set(['$lookup', '$graphLookup', '$facet'])

async function primaryOf({ host: { catalog }, operation }: MongosInvocation, db: string): Promise<string | null> {
  return isConfigDatabase(db) ? configAddress : ((await catalog.database(db, operation))?.primaryShard ?? null)
}

/** @param required the result of {@link shardThatMerges} */
export function mergeTypeOf(
  invocation: MongosInvocation,
  { stages, writer }: MergedPipeline,
  required: string | null,
): MergeType {
  const { behaviours } = invocation.host
  if (required !== null) return behaviours.ownersMerge ? 'specificShard' : 'primaryShard'
  if (!behaviours.routersMerge) return 'primaryShard'
  const spilling = invocation.args.bool('allowDiskUse') ?? behaviours.sortsUseDiskByDefault
  const needsShard = ({ stage, spills }: MergeRequirement) => stage === '$unionWith' || (spilling && spills)
  return writer !== null || needsOf(invocation, stages).some(needsShard) ? 'anyShard' : 'mongos'
}

function needsOf({ host }: MongosInvocation, stages: readonly Uint8Array[]): MergeRequirement[] {
  return mergeRequirements(stages, { language: host.behaviours.language })
}

async function anyOf<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (await test(item)) return true
  return false
}

/** A join of `$documents` has no collection. */
async function readsUnsharded(invocation: MongosInvocation, { db, collection }: ForeignCollection): Promise<boolean> {
  return collection === null || !(await isSharded(invocation, { db: db ?? invocation.db, collection }))
}

async function ownerOfRead(
  invocation: MongosInvocation,
  { db, collection }: ForeignCollection,
): Promise<string | null> {
  return collection === null ? null : ownerOf(invocation, { db: db ?? invocation.db, collection })
}

interface Namespace {
  readonly db: string
  readonly collection: string
}

function targetOf({ name, argument }: OuterStage, db: string): Namespace {
  return name === '$out' ? parseOut(argument, db) : parseMerge(argument, db)
}

async function isSharded(invocation: MongosInvocation, namespace: Namespace): Promise<boolean> {
  const placement = await placementOf(invocation, namespace)
  return placement !== null && !placement.isUnsplittable
}

/**
 * The shard that has, or would create, a collection; null: it is sharded, or the database does not
 * exist.
 */
async function ownerOf(invocation: MongosInvocation, namespace: Namespace): Promise<string | null> {
  const { host, operation } = invocation
  if (isConfigDatabase(namespace.db)) return configAddress
  const placement = await placementOf(invocation, namespace)
  if (placement !== null) return placement.isUnsplittable ? placement.table.lowestShard() : null
  return (await host.catalog.database(namespace.db, operation))?.primaryShard ?? null
}

async function placementOf(
  { host, operation }: MongosInvocation,
  { db, collection }: Namespace,
): Promise<CollectionPlacement | null> {
  if (isConfigDatabase(db)) return null
  const ns = `${db}.${collection}`
  const cached = host.catalog.peekCollection(ns)
  return cached === undefined ? host.catalog.collection(ns, operation) : cached
}

/** Whether the primary shard of the pipeline's database can read all of them locally. */
export async function areOnPrimary(
  invocation: MongosInvocation,
  foreign: readonly ForeignCollection[],
): Promise<boolean> {
  if (isConfigDatabase(invocation.db)) return false
  for (const { db, collection } of foreign) {
    if (collection === null) continue
    if (db !== null && db !== invocation.db) return false
    if ((await placementOf(invocation, { db: invocation.db, collection })) !== null) return false
  }
  return true
}
