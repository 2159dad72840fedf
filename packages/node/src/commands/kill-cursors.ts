import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, elementsOf, typeName } from '@shardlab/bson'
import type { NodeInvocation } from '../invocation.js'

export const killCursors: CommandRow<NodeInvocation> = {
  name: 'killCursors',
  routing: 'cursor',
  access: 'read',
  apiVersion1: true,
  manual: 'reference/command/killCursors',
  status: 'full',
  summary: 'Closes cursors.',
  fields: { cursors: 'array!' },
  run({ host, args }) {
    const killed: bigint[] = []
    const notFound: bigint[] = []
    elementsOf(args.value('cursors')!).forEach((value, i) => {
      if (value.type !== BsonType.int64)
        throw new CommandError(
          'TypeMismatch',
          `BSON field 'killCursors.cursors.${i}' is the wrong type '${typeName(value.type)}', expected type 'long'`,
        )
      const id = value.asBigInt()
      ;(host.cursors.close(id) ? killed : notFound).push(id)
    })
    return writeKilledCursors(killed, notFound)
  },
}

/** The four lists of the reply. */
export function writeKilledCursors(killed: readonly bigint[], notFound: readonly bigint[]): DocumentWriter {
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
