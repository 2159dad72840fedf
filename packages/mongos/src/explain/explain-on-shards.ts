/** Server: cluster_explain.cpp and the explain of each cluster command. */
import { CommandError, DocumentWriter, firstFieldName } from '@shardlab/bson'
import type { Verbosity } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { withRoute } from '../routing/stale-loop.js'
import { askForExplains, writeTrailer } from './ask-for-explains.js'
import { targetOfExplained } from './explained.js'
import { explainTwoPhases } from './explain-two-phases.js'
import { writeExecutions, writePlanners } from './merge-explains.js'

/**
 * As on the server, an explained update or delete creates its database.
 * @throws CommandError 26 NamespaceNotFound without the database; those of the explained command
 */
export function explainOnShards(invocation: MongosInvocation, verbosity: Verbosity): Promise<DocumentWriter> {
  const { args, body, db, host } = invocation
  const ns = `${db}.${args.collectionName(db)}`
  return withRoute(invocation, ns, createsDatabase(firstFieldName(body)!), async (route) => {
    if (route.kind === 'missing') throw new CommandError('NamespaceNotFound', `database ${db} not found`)
    const target = await targetOfExplained(invocation, ns, route)
    await host.reach('mongos.read.targeted', { ns, shards: target.members })
    // Loads the shards' connection strings.
    await host.shards.ids(invocation.operation)
    if (target.search !== null) return explainTwoPhases(invocation, route, target.members, target.search, verbosity)
    const { members, stage } = target
    const startedMs = host.context.now()
    const replies = await askForExplains(invocation, route, members, body, verbosity)
    const writer = writePlanners(new DocumentWriter(4096), invocation, stage, replies)
    writeExecutions(writer, stage, replies, host.context.now() - startedMs)
    return writeTrailer(writer, invocation, replies)
  })
}

/** Server: ChunkManagerTargeter::init. */
function createsDatabase(command: string): boolean {
  return command === 'update' || command === 'delete'
}
