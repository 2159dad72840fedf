import { BsonType, FieldIterator, isEmptyDocument } from '@shardlab/bson'
import {
  isFetched,
  stagesOf,
  type IndexEntry,
  type PlanStage,
  type ProjectionStage,
  type RowProjection,
  type ShardFilter,
} from '../plans/plan-stage.js'

export interface ProjectionShape {
  /** Includes `_id` unless it is excluded; null: the whole document. */
  readonly required: readonly string[] | null
  /** Whether it only includes or excludes top-level fields. */
  readonly simple: boolean
  readonly inclusive: boolean
  readonly excluded: readonly string[]
}

export function projectionShape(document: Uint8Array): ProjectionShape {
  const included: string[] = []
  const excluded: string[] = []
  let id: boolean | null = null
  let simple = true
  let computed = false
  for (const it = new FieldIterator(document); it.next();) {
    const name = it.name()
    const value = it.value()
    if (!value.isNumber() && value.type !== BsonType.bool) {
      computed = true
      simple = false
      continue
    }
    if (name.includes('.')) simple = false
    if (name.endsWith('.$')) computed = true
    if (name === '_id') id = value.isTruthy()
    else (value.isTruthy() ? included : excluded).push(name)
  }
  const inclusive = included.length > 0 || (id === true && excluded.length === 0)
  const required = computed || !inclusive ? null : id === false ? included : ['_id', ...included]
  return {
    required,
    simple,
    inclusive: inclusive && !computed,
    excluded: id === false && !inclusive ? ['_id', ...excluded] : excluded,
  }
}

export function isIdentity(projection: RowProjection): boolean {
  return projection.document !== undefined && isEmptyDocument(projection.document)
}

/** Whether the index keys below contain all paths. Server: `QuerySolutionNode::hasField`. */
export function providesFields(plan: PlanStage, paths: readonly string[]): boolean {
  return isFetched(plan) || indexesOf(plan).every((entry) => paths.every((path) => providesField(entry, path, false)))
}

/**
 * Whether the shard key of each row is in the index key below. Server:
 * `ShardFiltererImpl::keyBelongsToMe`, analyzeDataAccess.
 */
export function providesShardKey(plan: PlanStage, { pattern, hashesCover }: ShardFilter): boolean {
  return (
    isFetched(plan) ||
    indexesOf(plan).every((entry) =>
      pattern.every(({ path, direction }) => providesField(entry, path, hashesCover && direction === 'hashed')),
    )
  )
}

function indexesOf(plan: PlanStage): IndexEntry[] {
  return stagesOf(plan).flatMap((stage) => (stage.stage === 'IXSCAN' ? [stage.scan.entry] : []))
}

function providesField(entry: IndexEntry, path: string, orItsHash: boolean): boolean {
  if (entry.index.collation !== null) return false
  // No document can be assembled from a field and another one within it.
  if (
    entry.pattern.some(
      (field) => field.path !== path && (field.path.startsWith(`${path}.`) || path.startsWith(`${field.path}.`)),
    )
  )
    return false
  return entry.pattern.some(
    (field, i) =>
      field.path === path && (orItsHash || field.direction !== 'hashed') && entry.multikeyPaths[i]!.size === 0,
  )
}

export function projectionStage(shape: ProjectionShape | null, input: PlanStage): ProjectionStage {
  if (shape === null || !shape.simple) return 'PROJECTION_DEFAULT'
  if (isFetched(input)) return 'PROJECTION_SIMPLE'
  return shape.inclusive && [...stagesOf(input)].filter(({ stage }) => stage === 'IXSCAN').length === 1
    ? 'PROJECTION_COVERED'
    : 'PROJECTION_DEFAULT'
}
