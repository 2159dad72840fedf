import {
  noAnswer,
  type ClientCommand,
  type ClientReply,
  type MessageKind,
  type NodeCommand,
  type NodeReply,
  type RequestOf,
  type TimestampPair,
} from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, errorDocument, findField } from '@shardlab/bson'
import {
  bytesOfMessage,
  killOfRouter,
  noteConnected,
  noteDisconnected,
  noteLastError,
  withErrorLabels,
  writeFailure,
  writeTimesFor,
} from '@shardlab/member'
import { advanceStream } from '../change-streams/advance-stream.js'
import { runCommand, type CommandRequest } from './run-command.js'
import { writeTopologyVersion } from './topology-version.js'
import type { NodeHost } from '../host/node-host.js'

// Functions instead of methods of the node: a node at a past time inherits the methods of the live
// one but not its private state.

export function serveMessage(
  node: NodeHost,
  kind: MessageKind,
  request: unknown,
): Promise<unknown> | object | undefined {
  switch (kind) {
    case 'node.command':
      return node.nodeCommand(request as NodeCommand)
    case 'client.command':
      return node.clientCommand(request as ClientCommand)
    case 'client.disconnected':
      noteDisconnected(node, (request as { connectionId: number }).connectionId)
      return {}
    case 'node.kill-operation':
      killOfRouter(node, (request as RequestOf<'node.kill-operation'>).operationKey)
      return {}
    case 'node.advance-stream':
      advanceStream(node, request as RequestOf<'node.advance-stream'>)
      return {}
    default:
      return undefined
  }
}

export function answerClient(node: NodeHost, command: ClientCommand): Promise<ClientReply> | ClientReply {
  noteConnected(node, command.connectionId, command.remote)
  const db = findField(command.body, '$db')
  const request: CommandRequest = {
    body: command.body,
    sequences: command.sequences,
    db: db?.type === BsonType.string ? db.asString() : 'admin',
    routed: null,
    client: command,
    repeats: false,
  }
  const writer = runCommand(node, request)
  return writer instanceof Promise
    ? writer.then((written) => replyToClient(node, request, written))
    : replyToClient(node, request, writer)
}

export function answerMember(node: NodeHost, command: NodeCommand): Promise<NodeReply> | NodeReply {
  node.clock.advance(command.clusterTime)
  const writer = runCommand(node, {
    body: command.body,
    sequences: command.sequences,
    db: command.db,
    routed: command,
    client: null,
    repeats: false,
  })
  return writer instanceof Promise
    ? writer.then((written) => replyToMember(node, command, written))
    : replyToMember(node, command, writer)
}

/** For a command that ended without a reply of its own. */
export function answerClientWithError(node: NodeHost, command: ClientCommand, error: CommandError): ClientReply {
  const writer = new DocumentWriter(256)
  writeTopologyVersion(writer, node, error.code)
  writeFailure(writer, withErrorLabels(error, command.body, node), node.behaviours)
  return { body: writeTimesFor(node, command, writer, node.clock.time).finish(), again: false }
}

export function answerMemberWithError({ behaviours, clock }: NodeHost, error: CommandError): NodeReply {
  const writer = new DocumentWriter(256)
  writeFailure(writer, error, behaviours)
  return { body: writer.finish(), operationTime: clock.time, clusterTime: clock.time }
}

function replyToClient(
  node: NodeHost,
  { body, sequences, client, repeats }: CommandRequest,
  writer: DocumentWriter | null,
): ClientReply {
  if (writer === null) return { body: noAnswer, again: false }
  const { behaviours, statistics } = node
  // Only members of replica sets have cluster times.
  const timed = node.isStandalone ? writer : writeTimesFor(node, client!, writer, operationTimeOf(node))
  const reply = timed.finishToSend()
  statistics.exchanged(bytesOfMessage(body, sequences), reply.length)
  if (behaviours.lastErrors) noteLastError(node, client!, reply)
  return { body: reply, again: repeats }
}

function replyToMember(node: NodeHost, command: NodeCommand, writer: DocumentWriter | null): NodeReply {
  const { clock, statistics } = node
  const body =
    writer === null
      ? errorDocument(new CommandError('HostUnreachable', 'Connection closed by peer'))
      : writer.finishToSend()
  statistics.exchanged(bytesOfMessage(command.body, command.sequences), body.length)
  return { body, operationTime: operationTimeOf(node), clusterTime: clock.time }
}

/** A member of a set may have learned of a time that its data has not reached. */
const operationTimeOf = ({ set }: NodeHost): TimestampPair => set.appliedTs
