/** Which statements go next, and in which company. Server: batch_write_op.cpp, targetBatch. */
import type { CommandError } from '@shardlab/bson'
import type { RoutedSummary } from './routed-summary.js'
import type { StatementStates } from './statement-states.js'
import type { StatementTarget } from './statement-target.js'
import type { WriteCommand } from './write-command.js'

/** Statements for one shard, by their positions in the client's batch. */
export interface ShardBatch {
  readonly shard: string
  readonly indexes: number[]
  sizeBytes: number
}

/** A target that its statement shares with no other. */
export type LoneTarget = Exclude<StatementTarget, { kind: 'one' | 'failed' }>

export interface Round {
  readonly batches: readonly ShardBatch[]
  /** Statements that go on their own, after the batches. */
  readonly lone: readonly { readonly index: number; readonly target: LoneTarget }[]
}

export interface RoundPlan {
  readonly command: WriteCommand
  readonly states: StatementStates
  readonly summary: RoutedSummary
  readonly batchBytesMax: number
  targetOf(index: number): StatementTarget
  /** A statement has no target. @returns false: the routing may be to blame, nothing is to be sent before it is refreshed */
  onFailed(index: number, error: CommandError): boolean
}

/**
 * Ordered: the statements from the first ready one on that go to the same shard, or that one alone. Unordered: all
 * ready ones, by shard. Null: `onFailed` wants the routing refreshed.
 */
export function planRound(plan: RoundPlan): Round | null {
  const { command, states, summary } = plan
  const { ordered } = command
  const batches = new Map<string, ShardBatch>()
  const lone: { index: number; target: LoneTarget }[] = []
  for (let index = states.firstReady; index < states.count; index++) {
    if (!states.isReady(index)) continue
    const target = plan.targetOf(index)
    const batch = target.kind === 'one' ? batches.get(target.shard) : undefined
    // What follows in order must not overtake what goes elsewhere.
    if (ordered && batch === undefined && batches.size > 0) break
    if (target.kind === 'failed') {
      if (!plan.onFailed(index, target.error)) return null
      if (ordered) break
    } else if (target.kind !== 'one') {
      lone.push({ index, target })
      if (ordered) break
    } else {
      const into = batch ?? { shard: target.shard, indexes: [], sizeBytes: 0 }
      if (batch === undefined) batches.set(target.shard, into)
      if (addIfItFits(plan, into, index)) summary.add([target.shard], target.chunks, target.bounds)
      else if (ordered) break
    }
  }
  return { batches: [...batches.values()], lone }
}

/** All ready statements for one member, without targeting, as many as fit. */
export function batchForMember(plan: RoundPlan, shard: string): ShardBatch {
  const batch: ShardBatch = { shard, indexes: [], sizeBytes: 0 }
  for (let index = plan.states.firstReady; index < plan.states.count; index++) {
    if (plan.states.isReady(index) && !addIfItFits(plan, batch, index)) break
  }
  plan.summary.add([shard], 0, [])
  return batch
}

/** The first statement always fits. */
function addIfItFits({ command, batchBytesMax }: RoundPlan, batch: ShardBatch, index: number): boolean {
  const sizeBytes = command.statements[index]!.length
  if (batch.indexes.length > 0 && batch.sizeBytes + sizeBytes > batchBytesMax) return false
  batch.indexes.push(index)
  batch.sizeBytes += sizeBytes
  return true
}
