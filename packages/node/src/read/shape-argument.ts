/** Server: plan_cache_commands.cpp, canonicalize. */
import type { CommandArguments } from '@shardlab/actor'
import { emptyDocument, isEmptyDocument, type StringComparator } from '@shardlab/bson'
import { withCollation } from '@shardlab/member'
import { compileFilter, parseSort } from '@shardlab/query'
import type { Collection, QueryShape } from '@shardlab/storage'
import type { NodeHost } from '../host/node-host.js'

export interface ShapeArgument {
  readonly shape: QueryShape
  readonly strings: StringComparator | undefined
}

/**
 * The shape of the arguments query, sort, projection and collation, whose types are checked.
 * @throws CommandError for an invalid query, sort or collation
 */
export function shapeArgument(host: NodeHost, args: CommandArguments, collection: Collection): ShapeArgument {
  const context = withCollation(host.evaluation(), args.document('collation'), collection.defaultCollation)
  const [sort, projection] = [args.document('sort'), args.document('projection')]
  const isGiven = (document: Uint8Array | undefined): document is Uint8Array =>
    document !== undefined && !isEmptyDocument(document)
  return {
    shape: {
      filter: compileFilter(args.document('query') ?? emptyDocument, context).root,
      sort: isGiven(sort) ? parseSort(sort) : null,
      projection: isGiven(projection) ? projection : null,
    },
    strings: context.strings,
  }
}
