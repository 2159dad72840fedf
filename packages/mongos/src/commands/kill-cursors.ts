import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, elementsOf, typeName } from '@shardlab/bson'
import { writeKilledCursors } from '@shardlab/node'
import type { MongosInvocation } from '../command/invocation.js'

export const killCursors: CommandRow<MongosInvocation> = {
  name: 'killCursors',
  routing: 'cursor',
  access: 'read',
  apiVersion1: true,
  manual: 'reference/command/killCursors',
  status: 'full',
  summary: 'Closes cursors of this router and what they hold on the shards.',
  fields: { cursors: 'array!' },
  run({ args, host }) {
    const killed: bigint[] = []
    const notFound: bigint[] = []
    elementsOf(args.value('cursors')!).forEach((value, i) => {
      if (value.type !== BsonType.int64) {
        throw new CommandError(
          'TypeMismatch',
          `BSON field 'killCursors.cursors.${i}' is the wrong type '${typeName(value.type)}', expected type 'long'`,
        )
      }
      const id = value.asBigInt()
      ;(host.cursors.kill(id) ? killed : notFound).push(id)
    })
    return writeKilledCursors(killed, notFound)
  },
}
