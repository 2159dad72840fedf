/** Server: cluster_explain.cpp. */
import { CommandError, emptyDocument, firstFieldName, isEmptyDocument } from '@shardlab/bson'
import { readFindAndModify, readModify, writeEvaluation, type ModifyKind, type ModifyStatement } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { soleMember, type Route } from '../routing/route.js'
import { membersOfRead } from '../routing/target-read.js'
import { checkFindAndModifyTarget, isTargeted } from '../writes/single-document/find-and-modify.js'
import { targetModify, targetStatement } from '../writes/targeting/target-modify.js'

export type RouterStage = 'SINGLE_SHARD' | 'SHARD_MERGE' | 'SHARD_MERGE_SORT' | 'SHARD_WRITE'

export interface ExplainedTarget {
  readonly members: readonly string[]
  readonly stage: RouterStage
  /** The statement of a single-document write whose shard is unknown; null: another command. */
  readonly search: ModifyStatement | null
}

type PresentRoute = Exclude<Route, { kind: 'missing' }>

/** @throws CommandError 16 InvalidLength for a batch of writes; those of routing the command */
export async function targetOfExplained(
  invocation: MongosInvocation,
  ns: string,
  route: PresentRoute,
): Promise<ExplainedTarget> {
  const { args, body } = invocation
  const name = firstFieldName(body)!
  switch (name) {
    case 'find':
      return ofRead(invocation, ns, route, 'filter')
    case 'count':
    case 'distinct':
      return ofRead(invocation, ns, route, 'query')
    case 'findAndModify':
    case 'findandmodify':
      return ofFindAndModify(invocation, route)
    default:
      return ofWrite(
        invocation,
        route,
        name as ModifyKind,
        onlyStatement(args.documents(name === 'update' ? 'updates' : 'deletes') ?? []),
      )
  }
}

function ofRead(invocation: MongosInvocation, ns: string, route: Route, filter: 'filter' | 'query'): ExplainedTarget {
  const { args } = invocation
  const { members } = membersOfRead(invocation, ns, route, args.value(filter), args.document('collation'))
  // As on the server any sort counts, the natural order included. Commands without the argument
  // have none.
  const isSorted = filter === 'filter' && !isEmptyDocument(args.document('sort') ?? emptyDocument)
  const stage = members.length === 1 ? 'SINGLE_SHARD' : isSorted ? 'SHARD_MERGE_SORT' : 'SHARD_MERGE'
  return { members, stage, search: null }
}

function ofFindAndModify({ args, host }: MongosInvocation, route: PresentRoute): ExplainedTarget {
  const { statement } = readFindAndModify(args)
  const onOne = (member: string): ExplainedTarget => ({
    members: [member],
    stage: 'SINGLE_SHARD',
    search: null,
  })
  if (route.kind !== 'sharded') return onOne(soleMember(route))
  const { targeting } = targetStatement(
    { placement: route.placement, evaluation: writeEvaluation(host, args) },
    statement,
  )
  checkFindAndModifyTarget(host.behaviours, targeting)
  if (isTargeted(host.behaviours, targeting, statement)) return onOne(targeting.shards[0]!)
  return { members: targeting.shards, stage: 'SHARD_WRITE', search: statement }
}

async function ofWrite(
  invocation: MongosInvocation,
  route: PresentRoute,
  kind: ModifyKind,
  statement: Uint8Array,
): Promise<ExplainedTarget> {
  const { args, host, operation } = invocation
  const write = (members: readonly string[], search: ModifyStatement | null = null): ExplainedTarget => ({
    members,
    stage: 'SHARD_WRITE',
    search,
  })
  if (route.kind !== 'sharded') return write([soleMember(route)])
  const allShards = await host.shards.ids(operation)
  const { placement } = route
  const targeter = { placement, behaviours: host.behaviours, evaluation: writeEvaluation(host, args), allShards }
  const modify = readModify(kind, statement)
  const target = targetModify(targeter, modify, statement)
  switch (target.kind) {
    case 'failed':
      throw target.error
    case 'one':
      return write([target.shard])
    case 'all':
      // The write itself goes to all shards. Server: cluster_write_cmd.cpp, commandOpWrite.
      return write(target.owners)
    case 'first-match':
      return write(target.shards, target.search ? modify : null)
  }
}

function onlyStatement(statements: readonly Uint8Array[]): Uint8Array {
  if (statements.length !== 1) throw new CommandError('InvalidLength', 'explained write batches must be of size 1')
  return statements[0]!
}
