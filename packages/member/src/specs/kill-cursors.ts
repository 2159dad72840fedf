import { BsonType, CommandError, DocumentWriter, elementsOf, typeName } from '@shardlab/bson'
import { checkMayKillCursor, type CursorOwner } from '../access/ownership.js'
import type { MemberInvocation } from '../member-host.js'
import type { CommandSpec } from './command-spec.js'

export const killCursorsSpec = {
  name: 'killCursors',
  access: 'read',
  privileges: 'user',
  apiVersion1: true,
  manual: 'reference/command/killCursors',
  fields: { cursors: 'array!' },
} as const satisfies CommandSpec

/**
 * @param find undefined: the cursor does not exist
 * @throws CommandError 73 InvalidNamespace, 14 TypeMismatch, 13 Unauthorized, before it closes any
 */
export function closeCursors(
  invocation: MemberInvocation,
  find: (id: bigint) => { readonly ns: string; readonly owner?: CursorOwner } | undefined,
  close: (id: bigint) => boolean,
): DocumentWriter {
  const { args, db } = invocation
  args.collectionName(db)
  const asked = elementsOf(args.value('cursors')!).map((value, i) => {
    if (value.type === BsonType.int64) return value.asBigInt()
    throw new CommandError(
      'TypeMismatch',
      `BSON field 'killCursors.cursors.${i}' is the wrong type '${typeName(value.type)}', expected type 'long'`,
    )
  })
  for (const cursor of asked.map(find))
    if (cursor !== undefined) checkMayKillCursor(cursor.owner ?? null, cursor.ns, invocation)
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
