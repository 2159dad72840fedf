import { unversioned, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, typeName } from '@shardlab/bson'
import { operationIdOf, killOpSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { ask } from '../routing/scatter.js'

/** Server: cluster_kill_op.cpp. */
export const killOp: CommandRow<MongosInvocation> = {
  ...killOpSpec,
  routing: 'local',
  status: 'partial',
  deviations: ['D607', 'D707'],
  summary:
    'Ends an operation of this router (a number) or of a shard (`shard01:123`), createIndexes included; succeeds even if it does not exist.',
  async run(invocation) {
    const { args, host } = invocation
    const op = args.value('op')
    if (op === undefined) throw new CommandError(50759, 'Did not provide "op" field')
    if (op.isNumber()) {
      host.operations.kill(operationIdOf(op))
      return new DocumentWriter(128)
    }
    if (op.type !== BsonType.string)
      throw new CommandError(50760, `"op" field was of unsupported type ${typeName(op.type)}`)
    return killOnShard(invocation, op.asString())
  },
}

/** @throws CommandError 28625, 70 ShardNotFound, 9 FailedToParse */
async function killOnShard(invocation: MongosInvocation, op: string): Promise<DocumentWriter> {
  const { host, operation } = invocation
  const colon = op.indexOf(':')
  if (op.length < 3 || colon <= 0 || colon === op.length - 1)
    throw new CommandError(28625, `The op argument to killOp must be of the format shardid:opid but found "${op}"`)
  const shard = op.slice(0, colon)
  const ids = await host.shards.ids(operation)
  if (!ids.includes(shard)) throw new CommandError('ShardNotFound', `Shard ${shard} not found`)
  const text = op.slice(colon + 1)
  if (!/^[+-]?\d+$/.test(text)) throw new CommandError('FailedToParse', `Did not consume whole string.`)
  const id = Number(text)
  if (id < -0x8000_0000 || id > 0x7fff_ffff) throw new CommandError('Overflow', 'Out of range')
  const body = new DocumentWriter(64).int32('killOp', 1).int32('op', id).string('$db', 'admin').finish()
  // The shard's reply is ignored, as on the server.
  await ask(invocation, shard, unversioned('admin', body), true)
  return new DocumentWriter(128).string('shard', shard).int32('shardid', id)
}
