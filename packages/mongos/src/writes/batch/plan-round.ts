/** Server: batch_write_op.cpp, targetBatch; bulk_write_exec.cpp. */
import type { CommandError } from '@shardlab/bson'
import type { Route, ShardedRoute } from '../../routing/route.js'
import type { RoutedSummary } from './routed-summary.js'
import type { StatementStates } from './statement-states.js'
import type { StatementTarget } from '../targeting/statement-target.js'
import type { WriteCommand, WriteNamespace } from '../write-command.js'

/** The indexes are positions in the client's batch. */
export interface ShardBatch {
  readonly namespace: WriteNamespace
  readonly route: Route
  readonly shard: string
  readonly indexes: number[]
  sizeBytes: number
}

export type LoneTarget = Exclude<StatementTarget, { kind: 'one' | 'failed' }>

export interface LoneStatement {
  readonly index: number
  readonly route: ShardedRoute
  readonly target: LoneTarget
}

export interface Round {
  readonly batches: ShardBatch[]
  /** Sent alone, after the batches. */
  readonly lone: LoneStatement[]
}

export interface RoundPlan {
  readonly command: WriteCommand
  readonly states: StatementStates
  readonly summary: RoutedSummary
  readonly batchBytesMax: number
  readonly position: number
  targetOf(index: number): StatementTarget
  /**
   * Of a statement for an unsharded collection; null: the router does not check any, or this one
   * may be sent.
   */
  readonly refusalOf: ((index: number) => CommandError | null) | null
  fail(index: number, error: CommandError): void
  /** @returns false: the routing may be stale; nothing is sent until it is refreshed */
  onFailed(index: number, error: CommandError): boolean
}

/**
 * Ordered: adds the ready statements, from the first on, for one shard; or the first one alone.
 * Unordered: adds all ready statements, by shard.
 * @returns false: `onFailed` asks for fresh routing, and the round is void
 */
export function planRound(plan: RoundPlan, route: ShardedRoute, round: Round): boolean {
  const { command, states, summary, position } = plan
  const { ordered } = command
  const namespace = command.namespaces[position]!
  const batches = new Map<string, ShardBatch>()
  for (let index = states.firstReady; index < states.count; index++) {
    if (!states.isReady(index)) continue
    if (command.namespaceOf(index) !== position) {
      if (ordered) break
      continue
    }
    const target = plan.targetOf(index)
    const batch = target.kind === 'one' ? batches.get(target.shard) : undefined
    // An ordered batch must not overtake a statement for another shard.
    if (ordered && batch === undefined && batches.size > 0) break
    if (target.kind === 'failed') {
      if (!plan.onFailed(index, target.error)) return false
      if (ordered) break
    } else if (target.kind !== 'one') {
      round.lone.push({ index, route, target })
      if (ordered) break
    } else {
      const into = batch ?? { namespace, route, shard: target.shard, indexes: [], sizeBytes: 0 }
      if (batch === undefined) batches.set(target.shard, into)
      if (addIfItFits(plan, into, index)) summary.add(command.kindOf(index), [target.shard], target)
      else if (ordered) break
    }
  }
  round.batches.push(...batches.values())
  return true
}

/** Does no targeting. Null: no statement is left to send. */
export function batchForMember(plan: RoundPlan, route: Route, shard: string): ShardBatch | null {
  const { command, states, summary, position, refusalOf } = plan
  const batch: ShardBatch = { namespace: command.namespaces[position]!, route, shard, indexes: [], sizeBytes: 0 }
  const member = [shard]
  for (let index = states.firstReady; index < states.count; index++) {
    if (!states.isReady(index)) continue
    if (command.namespaceOf(index) !== position) {
      if (command.ordered) break
      continue
    }
    const refusal = refusalOf === null ? null : refusalOf(index)
    if (refusal !== null) {
      // An ordered batch fails after the statements before it.
      if (command.ordered && batch.indexes.length > 0) break
      plan.fail(index, refusal)
      if (command.ordered) break
    } else if (addIfItFits(plan, batch, index)) summary.addShards(command.kindOf(index), member)
    else break
  }
  return batch.indexes.length === 0 ? null : batch
}

/** The first statement always fits. */
function addIfItFits({ command, batchBytesMax }: RoundPlan, batch: ShardBatch, index: number): boolean {
  const sizeBytes = command.statements[index]!.length
  if (batch.indexes.length > 0 && batch.sizeBytes + sizeBytes > batchBytesMax) return false
  batch.indexes.push(index)
  batch.sizeBytes += sizeBytes
  return true
}
