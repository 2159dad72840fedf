/** Server: curop.cpp, client.cpp. Manual: reference/command/currentOp. */
import { BsonType, DocumentWriter, findField, toExtendedJson } from '@shardlab/bson'
import type { MemberHost } from '../member-host.js'
import type { Connection } from '../connections/connection-table.js'
import { noUserDigest } from '../sessions/session-patterns.js'
import { namespaceOf } from '../statistics/member-statistics.js'
import { isoText, type ReportedTransaction } from './reported-transaction.js'
import type { RunningOperation } from './running-operation.js'
import type { ShardLabel } from './shard-label.js'

/** The command truncates larger commands; the stage does not. */
const truncatedCommandBytes = 1000

const operationKinds: Readonly<Record<string, string>> = {
  find: 'query',
  insert: 'insert',
  update: 'update',
  delete: 'remove',
  getMore: 'getmore',
  bulkWrite: 'bulkWrite',
}

/** Common fields up to `active`. */
function begin(
  host: MemberHost,
  type: string,
  connection: Connection | undefined,
  id: number,
  shard: ShardLabel,
): DocumentWriter {
  const writer = new DocumentWriter(1024)
  if (shard !== null) writer.string('shard', shard)
  writer.string('type', type).string('host', host.context.endpoint).string('desc', `conn${id}`)
  if (connection === undefined) return writer.integer('connectionId', id)
  return writeConnection(writer, connection, shard)
}

function writeConnection(writer: DocumentWriter, connection: Connection, shard: ShardLabel): DocumentWriter {
  writer.integer('connectionId', connection.id)
  writer.string(shard === null ? 'client' : 'client_s', connection.remote)
  if (connection.appName !== '') writer.string('appName', connection.appName)
  if (connection.metadata !== null) writer.document('clientMetadata', connection.metadata)
  return writer
}

function writeTime(writer: DocumentWriter, host: MemberHost): DocumentWriter {
  return writer.string('currentOpTime', isoText(host.context.now()))
}

export function operationDocument(
  host: MemberHost,
  operation: RunningOperation,
  shard: ShardLabel,
  truncate: boolean,
  transaction: ReportedTransaction | undefined,
): Uint8Array {
  const connection = host.connections.find(operation.connectionId)
  const writer = begin(host, 'op', connection, operation.connectionId, shard).bool('active', true)
  writeTime(writer, host)
    .bool('isFromUserConnection', connection !== undefined)
    .bool('threaded', true)
  if (shard === null) writer.int32('opid', operation.id)
  else writer.string('opid', `${shard}:${operation.id}`)
  if (operation.killed) writer.bool('killPending', true)
  if (operation.session !== null) {
    writer
      .startDocument('lsid')
      .value('id', findField(operation.session.document, 'id')!)
      .binary('uid', 0, uidOf(operation.session.document))
      .end()
  }
  if (transaction !== undefined) writeTransaction(writer, transaction)
  const runningMs = host.context.steadyNow() - operation.startedSteadyMs
  writer
    .int64('secs_running', Math.floor(runningMs / 1000))
    .int64('microsecs_running', runningMs * 1000)
    .string('op', operationKinds[operation.command] ?? 'command')
    .string('ns', namespaceOf(operation.db, operation.body) ?? `${operation.db}.$cmd`)
    .bool('redacted', false)
  writeCommand(writer, operation.describedBody, truncate)
  writer.int32('numYields', operation.yields)
  if (host.process === 'mongod') {
    writer
      .startDocument('locks')
      .end()
      .bool('waitingForLock', false)
      .startDocument('lockStats')
      .end()
      .bool('waitingForFlowControl', false)
      .startDocument('flowControlStats')
      .end()
  }
  return writer.finish()
}

export function idleTransactionDocument(
  host: MemberHost,
  transaction: ReportedTransaction,
  shard: ShardLabel,
): Uint8Array {
  const { connectionId, lsid } = transaction
  const connection = host.connections.find(connectionId)
  const writer = new DocumentWriter(1024)
  if (shard !== null) writer.string('shard', shard)
  writer.string('type', 'idleSession').string('host', host.context.endpoint).string('desc', 'inactive transaction')
  if (connection !== undefined) writeConnection(writer, connection, shard)
  writer.document('lsid', lsid)
  writeTransaction(writer, transaction)
  if (host.process === 'mongod') writer.bool('waitingForLock', false)
  writer.bool('active', false)
  if (host.process === 'mongod') writer.startDocument('locks').end().startDocument('lockStats').end()
  return writer.finish()
}

function writeTransaction(writer: DocumentWriter, transaction: ReportedTransaction): void {
  writer.startDocument('transaction')
  transaction.write(writer)
  writer.end()
}

export function idleConnectionDocument(host: MemberHost, connection: Connection, shard: ShardLabel): Uint8Array {
  const writer = begin(host, 'op', connection, connection.id, shard).bool('active', false)
  return writeTime(writer, host).bool('isFromUserConnection', true).bool('threaded', true).finish()
}

function writeCommand(writer: DocumentWriter, body: Uint8Array, truncate: boolean): void {
  if (!truncate || body.length <= truncatedCommandBytes) {
    writer.document('command', body)
    return
  }
  const text = toExtendedJson(body)
  writer.startDocument('command').string('$truncated', `${text.slice(0, truncatedCommandBytes - 3)}...`)
  const comment = findField(body, 'comment')
  if (comment !== undefined && comment.type !== BsonType.undefined) writer.value('comment', comment)
  writer.end()
}

export interface IdleCursor {
  readonly id: bigint
  readonly ns: string
  readonly lastUsedMs: number
  readonly noTimeout: boolean
  readonly tailable: boolean
  readonly awaitData: boolean
}

export function idleCursorDocument(host: MemberHost, cursor: IdleCursor, shard: ShardLabel): Uint8Array {
  const writer = new DocumentWriter(512)
  if (shard !== null) writer.string('shard', shard)
  return writer
    .string('type', 'idleCursor')
    .string('host', host.context.endpoint)
    .string('ns', cursor.ns)
    .startDocument('cursor')
    .int64('cursorId', cursor.id)
    .date('lastAccessDate', cursor.lastUsedMs)
    .bool('noCursorTimeout', cursor.noTimeout)
    .bool('tailable', cursor.tailable)
    .bool('awaitData', cursor.awaitData)
    .end()
    .finish()
}

function uidOf(lsid: Uint8Array): Uint8Array {
  const uid = findField(lsid, 'uid')
  return uid?.type === BsonType.binary ? uid.asBinary() : noUserDigest
}
