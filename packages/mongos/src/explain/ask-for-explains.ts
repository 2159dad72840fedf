/** Server: cluster_explain.cpp. */
import { DocumentWriter, findField } from '@shardlab/bson'
import {
  shownCommand,
  withoutGenericArguments,
  writeServerInfo,
  writeServerParameters,
  type Verbosity,
} from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { askAll } from '../reads/ask-all.js'
import { routedCommand, type Route } from '../routing/route.js'
import type { ShardExplain } from './merge-explains.js'

export function writeTrailer(
  writer: DocumentWriter,
  invocation: MongosInvocation,
  replies: readonly ShardExplain[],
): DocumentWriter {
  const shapeHash = findField(replies[0]![1], 'queryShapeHash')
  if (shapeHash !== undefined) writer.value('queryShapeHash', shapeHash)
  writeServerParameters(writeServerInfo(writer, invocation.host), invocation.host)
  return writeCommand(writer, invocation)
}

/** Has the generic arguments of the surrounding explain. Last in every explain since 5.0. */
export function writeCommand(writer: DocumentWriter, { body, db, host, explain }: MongosInvocation): DocumentWriter {
  return host.behaviours.explainIsVersioned ? writer.document('command', shownCommand(body, db, explain)) : writer
}

/** @throws CommandError of a shard, with the shard's name */
export function askForExplains(
  invocation: MongosInvocation,
  route: Route,
  members: readonly string[],
  body: Uint8Array,
  verbosity: Verbosity,
): Promise<(readonly [member: string, reply: Uint8Array])[]> {
  const wrapped = wrappedIn(invocation, body, verbosity)
  return askAll(invocation, members, (member) => routedCommand(invocation, route, member, wrapped))
}

export function wrappedIn({ db }: MongosInvocation, body: Uint8Array, verbosity: Verbosity): Uint8Array {
  return new DocumentWriter(body.length + 128)
    .document('explain', withoutGenericArguments(body).finish())
    .string('verbosity', verbosity)
    .string('$db', db)
    .finish()
}
