/** Stages of servers since 8.0 that look up one key. Server: query_utils.h, isExpressEligible. */
import type { DocumentWriter } from '@shardlab/bson'
import { formatDocument, isPoint } from '@shardlab/query'
import type { PlanStage } from '../plans/plan-stage.js'
import type { Stage } from '../stages/stage.js'

export interface ExplainStyle {
  /**
   * Which queries show as EXPRESS_IXSCAN, as since 8.0. `id`: those for one `_id`. `equality`: also
   * those for one value of a field whose index guarantees at most one document. Default: none.
   */
  readonly express?: 'id' | 'equality'
  /** Whether the outermost stage has `isCached`, as since 8.0. Default false. */
  readonly isCached?: boolean
  /**
   * Whether stages count invalidations, with PROJECTION and SORT_KEY_GENERATOR, as until 4.0.
   * Default false.
   */
  readonly invalidated?: boolean
}

export interface Express {
  readonly keyPattern: string
  readonly indexName: string
  readonly projection: Uint8Array | null
  readonly keysExamined: number
  readonly docsExamined: number
}

/** A plan that looks up one key, below at most a shard filter, a simple projection and a limit. */
export function expressOf(plan: PlanStage, run: Stage | null, { express }: ExplainStyle): Express | null {
  if (express === undefined) return null
  let projection: Uint8Array | null = null
  let limit = 0
  let stage = plan
  let stats = run
  const descend = (input: PlanStage): void => {
    stage = input
    stats = stats === null ? null : stats.inputs[0]!
  }
  for (;;) {
    if (stage.stage === 'PROJECTION_SIMPLE') projection = stage.projection.document ?? null
    else if (stage.stage === 'LIMIT') limit = stage.amount
    else if (stage.stage !== 'SHARDING_FILTER') break
    descend(stage.input)
  }
  const found = (keyPattern: string, indexName: string, scan: Stage | null): Express => ({
    keyPattern,
    indexName,
    projection,
    keysExamined: scan?.keysExamined ?? 0,
    docsExamined: stats?.docsExamined ?? 0,
  })
  if (stage.stage === 'IDHACK') return found('{ _id: 1 }', '_id_', stats)
  if (express === 'id' || projection !== null || stage.stage !== 'FETCH' || stage.filter !== null) return null
  const { input } = stage
  if (input.stage !== 'IXSCAN' || input.filter !== null) return null
  const { index, keyPattern, pattern, multikey, wildcardPath } = input.scan.entry
  const [first, ...others] = input.scan.bounds.fields
  const isEquality =
    first!.intervals.length === 1 &&
    isPoint(first!.intervals[0]!) &&
    !others.some(({ intervals }) => intervals.every(isPoint))
  const isSingle = limit === 1 || (index.unique && pattern.length === 1)
  if (!isEquality || !isSingle || multikey || wildcardPath !== null || pattern[0]!.direction === 'hashed') return null
  return found(formatDocument(keyPattern), index.name, stats === null ? null : stats.inputs[0]!)
}

export function writeExpress(
  writer: DocumentWriter,
  { keyPattern, indexName, projection, keysExamined, docsExamined }: Express,
  run: Stage | null,
): void {
  writer.string('stage', 'EXPRESS_IXSCAN').string('keyPattern', keyPattern).string('indexName', indexName)
  if (projection !== null) writer.document('projection', projection).bool('projectionCovered', false)
  if (run === null) return
  writer.int32('keysExamined', keysExamined).int32('docsExamined', docsExamined).int32('nReturned', run.rows)
}
