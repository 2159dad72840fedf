/** Explaining a command that shards carry out alike. Server: cluster_explain.cpp and the explain of each cluster command. */
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { shownCommand, withoutGenericArguments, writeServerInfo, writeServerParameters, type Verbosity } from '@shardlab/node'
import type { MongosInvocation } from '../command/invocation.js'
import { askAll } from '../reads/ask-all.js'
import { routedCommand, type Route } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'
import { targetOfExplained } from './explained.js'
import { writeExecutions, writePlanners } from './merge-explains.js'

/** @throws CommandError 26 NamespaceNotFound without the database, and whatever the command itself would be refused with */
export function explainOnShards(invocation: MongosInvocation, verbosity: Verbosity): Promise<DocumentWriter> {
  const { args, body, db, host } = invocation
  const ns = `${db}.${args.collectionName(db)}`
  return withRoute(invocation, ns, false, async (route) => {
    if (route.kind === 'missing') throw databaseNotFound(db)
    const { members, stage, ignoresVersion } = await targetOfExplained(invocation, ns, route)
    await host.reach('mongos.read.targeted', { ns, shards: members })
    const startedMs = host.context.now()
    const replies = await askForExplains(invocation, route, members, body, verbosity, ignoresVersion)
    const durationMs = host.context.now() - startedMs
    // Connection strings are known from the list of shards.
    await host.shards.ids(invocation.operation)
    const writer = writePlanners(new DocumentWriter(4096), invocation, stage, replies)
    writeExecutions(writer, stage, replies, durationMs)
    const shapeHash = findField(replies[0]![1], 'queryShapeHash')
    if (shapeHash !== undefined) writer.value('queryShapeHash', shapeHash)
    writeServerParameters(writeServerInfo(writer, invocation.host), invocation.host)
    return writeCommand(writer, invocation)
  })
}

export function databaseNotFound(db: string): CommandError {
  return new CommandError('NamespaceNotFound', `database ${db} not found`)
}

/** The command with the generic arguments of the explain around it, at the end of every explain from 5.0 on. */
export function writeCommand(writer: DocumentWriter, { body, db, host, explain }: MongosInvocation): DocumentWriter {
  return host.behaviours.explainIsVersioned ? writer.document('command', shownCommand(body, db, explain)) : writer
}

/** The shards' replies to an explain of `body`. @throws CommandError of a shard, with the shard's name */
export function askForExplains(
  invocation: MongosInvocation,
  route: Route,
  members: readonly string[],
  body: Uint8Array,
  verbosity: Verbosity,
  ignoresVersion = false,
): Promise<(readonly [member: string, reply: Uint8Array])[]> {
  const wrapped = new DocumentWriter(body.length + 128)
    .document('explain', withoutGenericArguments(body).finish())
    .string('verbosity', verbosity)
    .string('$db', invocation.db)
    .finish()
  return askAll(invocation, members, (member) => {
    const command = routedCommand(invocation, route, member, wrapped)
    return ignoresVersion ? { ...command, shardVersion: 'IGNORED' } : command
  })
}
