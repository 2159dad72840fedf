import type { CommandArguments } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, elementsOf, typeName } from '@shardlab/bson'
import type { CommandSpec } from './command-spec.js'

export const killCursorsSpec = {
  name: 'killCursors',
  access: 'read',
  apiVersion1: true,
  manual: 'reference/command/killCursors',
  fields: { cursors: 'array!' },
} as const satisfies CommandSpec

/**
 * @param close returns false when the cursor does not exist
 * @throws CommandError 73 InvalidNamespace, 14 TypeMismatch, before it closes any
 */
export function closeCursors(args: CommandArguments, db: string, close: (id: bigint) => boolean): DocumentWriter {
  args.collectionName(db)
  const asked = elementsOf(args.value('cursors')!).map((value, i) => {
    if (value.type === BsonType.int64) return value.asBigInt()
    throw new CommandError(
      'TypeMismatch',
      `BSON field 'killCursors.cursors.${i}' is the wrong type '${typeName(value.type)}', expected type 'long'`,
    )
  })
  const killed: bigint[] = []
  const notFound: bigint[] = []
  for (const id of asked) (close(id) ? killed : notFound).push(id)
  const writer = new DocumentWriter(256)
  const list = (name: string, ids: readonly bigint[]) => {
    writer.startArray(name)
    ids.forEach((id, i) => writer.int64(String(i), id))
    writer.end()
  }
  list('cursorsKilled', killed)
  list('cursorsNotFound', notFound)
  list('cursorsAlive', [])
  list('cursorsUnknown', [])
  return writer
}
