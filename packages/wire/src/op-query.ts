import {
  BsonType,
  CommandError,
  DocumentWriter,
  FieldIterator,
  findField,
  readInt32,
  readUtf8,
  type RawValue,
} from '@shardlab/bson'
import { QueryFlag } from './constants.js'
import { checkDocument } from './document-check.js'
import { ProtocolError } from './errors.js'

const upgradeHint =
  'The client driver may require an upgrade. For more details see https://dochub.mongodb.org/core/legacy-opcode-removal'

/** Server: `checkAllowedOpQueryCommand`. */
const allowedCommands: ReadonlySet<string> = new Set([
  'hello',
  'isMaster',
  'ismaster',
  '_isSelf',
  'authenticate',
  'buildinfo',
  'buildInfo',
  'saslContinue',
  'saslStart',
])

/**
 * Since 5.1; older servers accept every command by OP_QUERY.
 * @throws CommandError 352 UnsupportedOpQueryCommand
 */
export function checkOpQueryCommand(name: string): void {
  if (!allowedCommands.has(name))
    throw new CommandError('UnsupportedOpQueryCommand', `Unsupported OP_QUERY command: ${name}. ${upgradeHint}`)
}

/** For an OP_REPLY with the error flag: a removed opcode, or a query on a collection. */
export function removedOperationDocument(operation: 'OP_QUERY' | 'OP_GET_MORE'): Uint8Array {
  return new DocumentWriter(256)
    .string('$err', `${operation} is no longer supported. ${upgradeHint}`)
    .int32('code', 5739101)
    .double('ok', 0)
    .finish()
}

const namespaceAt = 20

/**
 * The command of an OP_QUERY on `db.$cmd` in the form of an OP_MSG: unwrapped from `$query`, with
 * `$readPreference` (set for the secondaryOk flag, too) and `$db`. null: a query on a collection.
 * Server: `opMsgRequestFromLegacyRequest`, `upconvertRequest`.
 * @throws {@link ProtocolError} without a namespace, {@link CommandError} for all other errors
 */
export function readQueryCommand(message: Uint8Array): Uint8Array | null {
  const end = message.length
  const nameEnd = endOfNamespace(message)
  const ns = readUtf8(message, namespaceAt, nameEnd)
  const dot = ns.indexOf('.')
  if (dot < 0 || ns.slice(dot + 1) !== '$cmd') return null

  const flags = readInt32(message, 16)
  const documentAt = nameEnd + 9
  if (documentAt > end) throw new CommandError(18634, 'Not enough data to read')
  const numberToReturn = readInt32(message, nameEnd + 5)
  const documentEnd = endOfQueryDocument(message, documentAt)
  if (documentEnd < end) endOfQueryDocument(message, documentEnd)
  const query = message.subarray(documentAt, documentEnd)

  if ((flags & QueryFlag.exhaust) !== 0)
    throw new CommandError(18527, `The 'exhaust' OP_QUERY flag is invalid for commands: ${ns}`)
  if (numberToReturn !== 1 && numberToReturn !== -1) {
    throw new CommandError(16979, `Bad numberToReturn (${numberToReturn}) for $cmd type ns - can only be 1 or -1`)
  }
  const { command, readPreference, metadata } = unwrap(query)
  if (findField(command, '$db') !== undefined) throw new CommandError(40621, '$db is not allowed in OP_QUERY requests')

  const writer = new DocumentWriter(command.length + 96)
  for (const it = new FieldIterator(command); it.next();) {
    const fieldName = it.name()
    if (fieldName !== '$queryOptions' || metadata === null) writer.value(fieldName, it.value())
  }
  if (readPreference !== undefined) writer.value('$readPreference', readPreference)
  else if (metadata !== null) writer.fields(metadata)
  else if ((flags & QueryFlag.secondaryOk) !== 0 && findField(command, '$readPreference') === undefined) {
    writer.startDocument('$readPreference').string('mode', 'secondaryPreferred').end()
  }
  return writer.string('$db', ns.slice(0, dot)).finish()
}

/**
 * For all operations with a namespace.
 * @throws {@link ProtocolError} 18633 when it does not end
 */
export function endOfNamespace(message: Uint8Array): number {
  const end = message.indexOf(0, namespaceAt)
  if (end < 0) throw new ProtocolError(18633, 'Failed to parse ns string')
  return end
}

/** @throws {@link CommandError} 22 InvalidBSON, whatever is invalid; 10334 BSONObjectTooLarge */
function endOfQueryDocument(message: Uint8Array, start: number): number {
  if (message.length - start < 5)
    throw new CommandError('InvalidBSON', 'Client Error: Remaining data too small for BSON object')
  try {
    return checkDocument(message, start, message.length)
  } catch (error) {
    if (!(error instanceof CommandError) || error.codeName === 'BSONObjectTooLarge') throw error
    throw new CommandError('InvalidBSON', `Client Error: bad object in message: ${error.message}`)
  }
}

interface Unwrapped {
  readonly command: Uint8Array
  readonly readPreference: RawValue | undefined
  /** `$queryOptions`, from old routers; null: absent. */
  readonly metadata: Uint8Array | null
}

function unwrap(query: Uint8Array): Unwrapped {
  const first = new FieldIterator(query)
  const name = first.next() ? first.name() : ''
  if (name === '$query' || name === 'query') {
    if (findField(query, '$maxTimeMS') !== undefined) {
      throw new CommandError(
        'InvalidOptions',
        'cannot use $maxTimeMS query option with commands; use maxTimeMS command option instead',
      )
    }
    return {
      command: embedded(first.value(), name),
      readPreference: findField(query, '$readPreference'),
      metadata: null,
    }
  }
  const options = findField(query, '$queryOptions')
  return {
    command: query,
    readPreference: undefined,
    metadata: options === undefined ? null : embedded(options, '$queryOptions'),
  }
}

function embedded(value: RawValue, name: string): Uint8Array {
  if (value.type === BsonType.object || value.type === BsonType.array) return value.slice()
  throw new CommandError(10065, `invalid parameter: expected an object (${name})`)
}
