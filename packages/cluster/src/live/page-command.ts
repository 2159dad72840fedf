/** Commands that a page of the dashboard sends, as texts. */
import {
  documentsOf,
  DocumentWriter,
  FieldIterator,
  findField,
  findPath,
  parseExtendedJson,
  toExtendedJson,
} from '@shardlab/bson'
import type { PageFields } from '@shardlab/dashboard/server'
import { OptionError } from '../option-error.js'

/** Longer replies are cut off: a browser would show them slowly. */
const replyCharactersMax = 500_000
const hiddenFields: ReadonlySet<string> = new Set(['$clusterTime', 'operationTime'])

/** @param fields `db`, and `command` as Extended JSON @throws OptionError */
export function bodyOfPageCommand({ db, command }: PageFields): Uint8Array {
  if (typeof db !== 'string' || typeof command !== 'string')
    throw new OptionError('runCommand needs a database and a command.')
  let body: Uint8Array
  try {
    body = parseExtendedJson(command)
  } catch (error) {
    throw new OptionError(`the command is not Extended JSON: ${(error as Error).message}`)
  }
  return new DocumentWriter(body.length + 64).fields(body).string('$db', db).finish()
}

export interface PageReply {
  /** Of the server; null: the command has succeeded. */
  readonly error: string | null
  /** Without the cursor, whose documents follow. */
  readonly reply: string
  readonly documents: readonly string[]
}

export function replyOfPageCommand(reply: Uint8Array): PageReply {
  const batch = findPath(reply, 'cursor.firstBatch')
  const documents = batch === undefined ? [] : documentsOf(batch).map((document) => toExtendedJson(document))
  const writer = new DocumentWriter(reply.length + 16)
  for (const it = new FieldIterator(reply); it.next();)
    if (!hiddenFields.has(it.name()) && (batch === undefined || it.name() !== 'cursor'))
      writer.value(it.name(), it.value())
  const text = toExtendedJson(writer.finish())
  const isLong = text.length > replyCharactersMax
  const error = findField(reply, 'ok')?.isTruthy() === true ? null : (findField(reply, 'errmsg')?.asString() ?? '')
  return { error, reply: isLong ? `${text.slice(0, replyCharactersMax)}…` : text, documents }
}

/** Closes the cursor of a reply that has more documents than the page shows. null: it has none. */
export function killOfRest(reply: Uint8Array): Uint8Array | null {
  const id = findPath(reply, 'cursor.id')
  const ns = findPath(reply, 'cursor.ns')?.asString()
  if (id === undefined || ns === undefined || id.asBigInt() === 0n) return null
  const [db, collection] = [ns.slice(0, ns.indexOf('.')), ns.slice(ns.indexOf('.') + 1)]
  return new DocumentWriter(128)
    .string('killCursors', collection)
    .startArray('cursors')
    .value('0', id)
    .end()
    .string('$db', db)
    .finish()
}
