import {
  checkDatabaseName,
  CommandArguments,
  type ClientCommand,
  type CommandRow,
  type NodeCommand,
} from '@shardlab/actor'
import { CommandError, sameBytes } from '@shardlab/bson'
import { authorize, withUserOfSession, type RunningOperation } from '@shardlab/member'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'

/** @throws CommandError 13 Unauthorized, 73 InvalidNamespace */
export function checkDatabase(row: CommandRow<NodeInvocation>, db: string, client: ClientCommand | null): void {
  if (row.adminOnly === true && db !== 'admin')
    throw new CommandError('Unauthorized', `${row.name} may only be run against the admin database.`)
  if (client !== null) checkDatabaseName(db)
}

const noSequences: readonly string[] = []

/** @throws CommandError of the arguments */
export function argumentsOf(
  row: CommandRow<NodeInvocation>,
  body: Uint8Array,
  sequences: NodeCommand['sequences'],
  isRouted: boolean,
): CommandArguments {
  return CommandArguments.parse(
    body,
    (isRouted ? row.memberFields : row.fields) ?? null,
    sequences.length === 0 ? noSequences : sequences.map(([id]) => id),
    row.unknownFields,
    row.handwritten,
  )
}

/**
 * With access control: the command of a client that may run it, with the user of its session.
 * @throws CommandError Unauthorized, and those of the arguments; ConnectionClosedError
 */
export function authorizedBody(
  node: NodeHost,
  { body, connectionId, sequences }: ClientCommand,
  row: CommandRow<NodeInvocation>,
  operation: RunningOperation,
): Uint8Array {
  const { db } = operation
  if (row.adminOnly === true) checkDatabase(row, db, null)
  const readArguments = () => argumentsOf(row, body, sequences, false)
  const connection = node.connections.stillOpen(connectionId)
  const findRow = (name: string) => node.table.find(name, node.behaviours)
  const namespaceOfUuid = (uuid: Uint8Array) => namespaceOf(node, uuid)
  const command = {
    host: node,
    row,
    connection,
    operation,
    db,
    body,
    readArguments,
    sequences,
    findRow,
    namespaceOfUuid,
  }
  if (authorize(command) !== null) throw new Error('the users of a mongod are not at hand')
  return withUserOfSession(node, row, connection, body)
}

/** Version 2.6 has no UUIDs, and applies operations by their names. */
function namespaceOf({ behaviours, engine }: NodeHost, uuid: Uint8Array): string | null {
  if (behaviours.applyOpsMode === 'lenient') return null
  return engine.collections().find((each) => sameBytes(each.uuid, uuid))?.ns ?? null
}
