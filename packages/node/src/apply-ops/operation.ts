import { BsonType, CommandError, DocumentWriter, findField, firstFieldName, type RawValue } from '@shardlab/bson'
import { wrongType } from '@shardlab/actor'
import { uuidIn } from '@shardlab/member'
import { formatDocument } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'

/** One element of `applyOps`. */
export interface Operation {
  readonly document: Uint8Array
  /** Until 4.2, the first letter matters. */
  readonly op: string
  readonly ns: string
  /** Null: absent, or no document in versions that do not check it. */
  readonly object: Uint8Array | null
  readonly object2: Uint8Array | null
  readonly uuid: Uint8Array | null
  /** `b` */
  readonly upsert: boolean
}

/** @throws CommandError 2 BadValue, 14 TypeMismatch, 40414 for an invalid oplog entry */
export function readOperation(document: Uint8Array, behaviours: Behaviours): Operation {
  if (behaviours.applyOpsParsesEntries) checkEntry(document)
  const [object, object2, uuid] = ['o', 'o2', 'ui'].map((name) => findField(document, name))
  return {
    document,
    op: findField(document, 'op')!.asString(),
    ns: findField(document, 'ns')!.asString(),
    object: documentOf(object),
    object2: documentOf(object2),
    // Version 2.6 has no UUIDs.
    uuid: uuid === undefined || behaviours.applyOpsMode === 'lenient' ? null : uuidOf(uuid, behaviours),
    upsert: findField(document, 'b')?.isTruthy() === true,
  }
}

function documentOf(value: RawValue | undefined): Uint8Array | null {
  return value?.type === BsonType.object ? value.slice() : null
}

/** @throws CommandError 207 InvalidUUID, 14 TypeMismatch */
function uuidOf(value: RawValue, { applyOpsParsesEntries }: Behaviours): Uint8Array {
  if (applyOpsParsesEntries) {
    if (value.type !== BsonType.binary) throw wrongType('OplogEntryBase', 'ui', value.type, 'binData')
    return uuidIn('OplogEntryBase.ui', value.slice())
  }
  const binary = value.type === BsonType.binary ? value.slice() : null
  if (binary?.length !== 21 || binary[4] !== uuidSubtype)
    throw new CommandError('InvalidUUID', 'uuid must be a 16-byte binary field with UUID (4) subtype')
  return binary.subarray(5)
}

const uuidSubtype = 4

/** Server: OplogEntryBase of oplog_entry.idl. */
function checkEntry(document: Uint8Array): void {
  const op = findField(document, 'op')!.asString()
  if (!['c', 'i', 'u', 'd', 'n'].includes(op))
    throw new CommandError('BadValue', `Enumeration value '${op}' for field 'OplogEntryBase.op' is not a valid value.`)
  const object = findField(document, 'o')
  if (object === undefined)
    throw new CommandError(40414, "BSON field 'OplogEntryBase.o' is missing but a required field")
  if (object.type !== BsonType.object) throw wrongType('OplogEntryBase', 'o', object.type, 'object')
  const object2 = findField(document, 'o2')
  if (object2 !== undefined && object2.type !== BsonType.object)
    throw wrongType('OplogEntryBase', 'o2', object2.type, 'object')
  const upsert = findField(document, 'b')
  if (upsert !== undefined && upsert.type !== BsonType.bool) throw wrongType('OplogEntryBase', 'b', upsert.type, 'bool')
  if (op === 'c') checkCommandName(findField(document, 'o')!.slice())
}

const commandNames: ReadonlySet<string> = new Set([
  'create',
  'renameCollection',
  'drop',
  'collMod',
  'applyOps',
  'dbCheck',
  'dropDatabase',
  'emptycapped',
  'convertToCapped',
  'createIndexes',
  'startIndexBuild',
  'commitIndexBuild',
  'abortIndexBuild',
  'dropIndexes',
  'deleteIndexes',
  'commitTransaction',
  'abortTransaction',
  'importCollection',
])

function checkCommandName(command: Uint8Array): void {
  const name = firstName(command)
  if (!commandNames.has(name))
    throw new CommandError(
      'BadValue',
      `Unknown oplog entry command type: ${name} Object field: ${formatDocument(command)}`,
    )
}

/** Empty for an empty document. */
export function firstName(document: Uint8Array): string {
  return firstFieldName(document) ?? ''
}

/** As errors show it. */
export function operationText({ document }: Operation, { applyOpsEntryText }: Behaviours): string {
  if (applyOpsEntryText === 'operation') return formatDocument(document)
  const entry = new DocumentWriter(document.length + 32).fields(document)
  if (findField(document, 'ts') === undefined) entry.timestamp('ts', 0, 0)
  if (findField(document, 'wall') === undefined) entry.date('wall', 0)
  const bytes = entry.finish()
  return formatDocument(
    applyOpsEntryText === 'entry'
      ? bytes
      : new DocumentWriter(bytes.length + 32).document('oplogEntry', bytes).finish(),
  )
}
