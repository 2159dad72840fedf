import type { CommandRow } from '@shardlab/actor'
import { askCluster, checkVerb, clusterVerbs, clusterVerbsSummary, shardlabSpec } from '@shardlab/member'
import { explainBalance, runRound } from '../admin/explain-balance.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { withDeadline } from '../remote/with-deadline.js'

const verbs = { ...clusterVerbs, explainBalance: ['ns'], runRound: [] }

export const shardlab: CommandRow<MongosInvocation> = {
  ...shardlabSpec,
  routing: 'local',
  status: 'full',
  summary: `${clusterVerbsSummary} A router also explains why a collection is balanced or not (explainBalance), and holds a round of the balancer (runRound).`,
  run(invocation) {
    const { host, args, body, operation } = invocation
    const verb = args.targetString()
    checkVerb(verb, body, verbs)
    if (verb === 'explainBalance') return explainBalance(invocation)
    if (verb === 'runRound') return runRound(invocation)
    return askCluster(host.context, verb, body, (asked) => withDeadline(host.context, operation, asked))
  },
}
