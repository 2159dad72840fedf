import type { CommandArguments, CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, FieldIterator, findField, isEmptyDocument } from '@shardlab/bson'
import {
  checkFindArguments,
  compileFind,
  findError,
  evaluationOf,
  findSpec,
  nonNegative,
  sortKeyField,
  sortKeyOrder,
  tailableModeOf,
  parseQuerySort,
} from '@shardlab/member'
import type { Language, SortPattern } from '@shardlab/query'
import type { Targeting } from '@shardlab/sharding'
import type { MongosInvocation } from '../host/mongos-host.js'
import { writeEmptyCursor } from '../cursors/cursor-reply.js'
import { ResultsMerger } from '../cursors/results-merger.js'
import { SkipLimitStream } from '../cursors/skip-limit-stream.js'
import { establishCursors, openMerged, openOnOne, type CursorTraits } from '../reads/open-cursor.js'
import { establishWhereReachable } from '../reads/partial-results.js'
import { routedCommand, soleMember, type Route, type ShardedRoute } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'
import { noteRead, noteTargetedRead, targetRead } from '../routing/target-read.js'
import { routedToPrimary } from '../statistics/routed.js'

export const find: CommandRow<MongosInvocation> = {
  ...findSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D109', 'D301', 'D303', 'D401', 'D404', 'D501', 'D502', 'D505', 'D606', 'D613'],
  summary: 'Selects documents on the shards that can have matches, and merges their results.',
  run(invocation) {
    const { args, db, host } = invocation
    const ns = args.namespace(db)
    const traits = args.fixed(traitsOf, traitsOf, traitsOf)
    host.statistics.opcounters.query++
    return withRoute(invocation, ns, false, (route) => findOn(invocation, ns, route, traits))
  },
}

interface FindTraits extends CursorTraits {
  readonly allowPartial: boolean
}

/**
 * @throws CommandError those of {@link checkFindArguments}, 2 BadValue for a projection that uses
 *   the router's own sort-key field
 */
function traitsOf(args: CommandArguments): FindTraits {
  checkFindArguments(args)
  const projection = args.document('projection')
  if (projection !== undefined && findField(projection, sortKeyField) !== undefined)
    throw new CommandError('BadValue', `Projection contains illegal field '${sortKeyField}'`)
  return {
    noTimeout: args.bool('noCursorTimeout') ?? false,
    batchSize: nonNegative(args, 'batchSize'),
    tailable: tailableModeOf(args),
    opensWhenFull: args.bool('singleBatch') !== true,
    allowPartial: args.bool('allowPartialResults') ?? false,
  }
}

function findOn(invocation: MongosInvocation, ns: string, route: Route, traits: FindTraits): Promise<DocumentWriter> {
  const { args, body, host } = invocation
  if (route.kind === 'missing') {
    compileFind(args, evaluationOf(host, args))
    return Promise.resolve(writeEmptyCursor(ns))
  }
  if (route.kind !== 'sharded') {
    const member = soleMember(route)
    return openOnOne(invocation, member, routedCommand(invocation, route, member, body), traits, () =>
      noteRead(invocation, routedToPrimary(ns, route, member), 'find'),
    )
  }
  return findOnShards(invocation, ns, route, targetFind(invocation, route), traits)
}

function targetFind(invocation: MongosInvocation, { placement }: ShardedRoute): Targeting {
  const { args, host } = invocation
  try {
    return targetRead(invocation, placement, args.value('filter'), args.document('collation'))
  } catch (error) {
    throw findError(error, host.behaviours)
  }
}

async function findOnShards(
  invocation: MongosInvocation,
  ns: string,
  route: ShardedRoute,
  targeting: Targeting,
  traits: FindTraits,
): Promise<DocumentWriter> {
  const { shards } = targeting
  await invocation.host.reach('mongos.read.targeted', { ns, shards })
  const note = () => noteTargetedRead(invocation, ns, route, targeting, 'find')
  // With `allowPartialResults` even a single shard may be left out.
  if (shards.length === 1 && !traits.allowPartial)
    return openOnOne(
      invocation,
      shards[0]!,
      routedCommand(invocation, route, shards[0]!, invocation.body),
      traits,
      note,
    )
  const reply = await findOnSeveral(invocation, ns, route, targeting, traits)
  note()
  return reply
}

async function findOnSeveral(
  invocation: MongosInvocation,
  ns: string,
  route: ShardedRoute,
  { shards }: Targeting,
  { allowPartial, ...traits }: FindTraits,
): Promise<DocumentWriter> {
  const { args, host } = invocation
  const sort = mergeSortOf(args.document('sort'), host.behaviours.language)
  const { strings } = evaluationOf(host, args, route.placement.defaultCollation)
  const skip = nonNegative(args, 'skip') ?? 0
  const limit = nonNegative(args, 'limit') ?? 0
  const body = bodyForShards(invocation, sort !== null, skip, limit)
  const commandFor = (shard: string) => routedCommand(invocation, route, shard, body)
  const { remotes, partial } = allowPartial
    ? await establishWhereReachable(invocation, shards, commandFor)
    : await establishCursors(invocation, shards, commandFor, undefined, true)
  const merger = new ResultsMerger(remotes, sort === null ? null : sortKeyOrder(sort, strings), traits.batchSize ?? 0, {
    allowed: allowPartial,
    isSo: partial,
  })
  const stream = skip === 0 && limit === 0 ? merger : new SkipLimitStream(merger, skip, limit)
  return openMerged(invocation, ns, stream, { ...traits, singleBatch: args.bool('singleBatch') ?? false })
}

/** Null: none, or the natural order, by which the router cannot merge. */
function mergeSortOf(sort: Uint8Array | undefined, language: Language): SortPattern | null {
  if (sort === undefined || isEmptyDocument(sort)) return null
  const pattern = parseQuerySort(sort, language)
  return pattern.natural === null ? pattern : null
}

function bodyForShards({ args, body }: MongosInvocation, sorted: boolean, skip: number, limit: number): Uint8Array {
  if (skip + limit >= 2 ** 63) {
    throw new CommandError(
      'Overflow',
      `sum of limit and skip cannot be represented as a 64-bit integer, limit: ${limit}, skip: ${skip}`,
    )
  }
  const writer = new DocumentWriter(body.length + 128)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (name === 'skip' || name === 'limit' || name === 'singleBatch' || (name === 'projection' && sorted)) continue
    writer.value(name, it.value())
  }
  if (limit > 0) writer.int64('limit', BigInt(limit) + BigInt(skip))
  if (sorted) {
    writer.startDocument('projection')
    const projection = args.document('projection')
    if (projection !== undefined) writer.fields(projection)
    writer.startDocument(sortKeyField).string('$meta', 'sortKey').end().end()
  }
  return writer.finish()
}
