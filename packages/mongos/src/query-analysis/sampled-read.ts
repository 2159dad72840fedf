/** Server: SampledReadCommand of analyze_shard_key_documents.idl. */
import { DocumentWriter, emptyDocument } from '@shardlab/bson'
import { collationOf, evaluationOf } from '@shardlab/member'
import { compilePipeline } from '@shardlab/query'
import type { MongosInvocation } from '../host/mongos-host.js'

interface SampledRead {
  readonly cmdName: string
  /** `{ filter, collation, let }` */
  readonly cmd: Uint8Array
}

/** Builds the sample on demand; null: the command is not sampled. */
export function sampledRead(invocation: MongosInvocation): (() => SampledRead) | null {
  const { args } = invocation
  switch (args.command) {
    case 'find':
      return () => read('find', args.document('filter'), args.document('collation'), args.document('let'))
    case 'count':
    case 'distinct':
      return () => read(args.command, args.document('query'), args.document('collation'), undefined)
    case 'aggregate':
      return () => {
        const given = args.document('collation')
        // Undefined: the shard fills in the collection's default.
        const collation = given === undefined ? undefined : (collationOf(given) ?? simpleCollation)
        return read('aggregate', leadingFilter(invocation), collation, args.document('let'))
      }
    default:
      return null
  }
}

const simpleCollation = new DocumentWriter(32).string('locale', 'simple').finish()

function read(
  cmdName: string,
  filter: Uint8Array | undefined,
  collation: Uint8Array | undefined,
  letVariables: Uint8Array | undefined,
): SampledRead {
  const writer = new DocumentWriter(256)
    .document('filter', filter ?? emptyDocument)
    .document('collation', collation ?? emptyDocument)
  if (letVariables !== undefined) writer.document('let', letVariables)
  return { cmdName, cmd: writer.finish() }
}

/** Reads the pipeline's first `$match`. */
function leadingFilter({ args, db, host }: MongosInvocation): Uint8Array | undefined {
  const target = args.target.isNumber() ? 'none' : 'collection'
  return compilePipeline(args.pipeline()!, evaluationOf(host, args), { db, target }).leadingFilter ?? undefined
}
