import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { askCluster, checkVerb, clusterVerbs, clusterVerbsSummary, shardlabSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

/** Through any member, because a replica set without sharding has no router. */
export const shardlab: CommandRow<NodeInvocation> = {
  ...shardlabSpec,
  routing: 'local',
  status: 'full',
  summary: clusterVerbsSummary,
  run({ host, args, body, operation }) {
    const verb = args.targetString()
    if (verb === 'explainBalance')
      throw new CommandError('CommandNotSupported', 'only routers explain the balance: connect to a mongos')
    checkVerb(verb, body, clusterVerbs)
    // A fault may change the state of this member, which ends the context of its node.
    return askCluster(host.set.context, verb, body, (asked) => operation.interruptible(asked))
  },
}
