import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import { executePlan, planQuery } from '@shardlab/storage'
import { hintOf } from '../crud/hint.js'
import { hasCollation, isAbsentOrEmpty, nonNegative } from '../crud/read-arguments.js'
import type { NodeInvocation } from '../invocation.js'

export const count: CommandRow<NodeInvocation> = {
  name: 'count',
  routing: 'shard-key',
  access: 'read',
  manual: 'reference/command/count',
  status: 'partial',
  missing: 'collation',
  summary: 'Counts documents.',
  fields: {
    query: 'object',
    limit: 'number',
    skip: 'number',
    hint: 'string|object',
    collation: 'object',
    fields: 'object',
    queryMetadata: 'any',
  },
  async run(invocation) {
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const entered = host.role.enter(ns, invocation)
    const { ownership } = entered instanceof Promise ? await entered : entered
    if (hasCollation(args)) throw new CommandError('InvalidOptions', 'collation is not supported in count')
    const skip = nonNegative(args, 'skip') ?? 0
    // A negative limit counts like a positive one.
    const limit = Math.abs(Math.trunc(args.number('limit') ?? 0))
    const collection = host.collection(ns)
    let matches = 0
    if (collection !== undefined) {
      if (isAbsentOrEmpty(args.document('query'))) {
        // As on the server the count of records: orphans are in it.
        matches = collection.count
      } else {
        const executor = executePlan(
          planQuery(collection, { filter: compileFilter(args.document('query')!, host.evaluation()), ...hintOf(args) }),
          ownership === null ? {} : { rowFilter: (document) => ownership.owns(document) },
        )
        const enough = limit > 0 ? skip + limit : Number.POSITIVE_INFINITY
        while (matches < enough && executor.next() !== null) matches++
      }
    }
    matches = Math.max(0, matches - skip)
    if (limit > 0) matches = Math.min(matches, limit)
    return new DocumentWriter(128).int32('n', matches)
  },
}
