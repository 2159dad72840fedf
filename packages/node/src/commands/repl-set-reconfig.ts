import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError } from '@shardlab/bson'
import type { NodeInvocation } from '../host/node-host.js'
import { answered } from '../replication/answered.js'

export const replSetReconfig: CommandRow<NodeInvocation> = {
  name: 'replSetReconfig',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/replSetReconfig',
  status: 'full',
  summary:
    'Changes the configuration of the set; without force one voter at a time since 4.4. Members of a `--topology replica-set` only.',
  async run({ host, args, operation }) {
    if (args.target.type !== BsonType.object) throw new CommandError('BadValue', 'no configuration specified')
    const timeoutMs = args.number('maxTimeMS') ?? 0
    const error = await host.set!.reconfigure(
      {
        document: args.target.slice(),
        force: args.bool('force') === true,
        timeoutMs: timeoutMs > 0 ? timeoutMs : null,
      },
      operation.signal,
    )
    return answered(error)
  },
}
