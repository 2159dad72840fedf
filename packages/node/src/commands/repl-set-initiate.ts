import type { CommandRow } from '@shardlab/actor'
import { BsonType, DocumentWriter, emptyDocument, isEmptyDocument } from '@shardlab/bson'
import { defaultConfigReply } from '@shardlab/replication'
import type { NodeInvocation } from '../host/node-host.js'
import { answered } from '../replication/answered.js'
import { onCluster } from '@shardlab/member'

/** Server: repl_set_commands.cpp, CmdReplSetInitiate. */
export const replSetInitiate: CommandRow<NodeInvocation> = {
  name: 'replSetInitiate',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('replSetConfigure'),
  adminOnly: true,
  manual: 'reference/command/replSetInitiate',
  status: 'full',
  summary: 'Gives a set its first configuration. Members that run without one only.',
  async run({ host: { role, set, context }, args }) {
    const document = args.target.type === BsonType.object ? args.target.slice() : emptyDocument
    const error = await set.initiate(document, { isConfigServer: role.name === 'config-server' })
    if (error !== null) return answered(error)
    const writer = new DocumentWriter(128)
    return isEmptyDocument(document) ? writer.fields(defaultConfigReply(context.endpoint)) : writer
  },
}
