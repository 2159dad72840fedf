/** Events of change streams. Server: change_stream_event_transform.cpp. */
import type { TimestampPair } from '@shardlab/actor'
import { documentValue, DocumentWriter, FieldIterator, findField, firstFieldName, type RawValue } from '@shardlab/bson'
import { eventToken, splitNamespace, tokenDocument, type ChangeStreamSpec, type TokenVersion } from '@shardlab/member'
import type { Behaviours } from '@shardlab/sharding'
import { withIdIndex } from '../log/shown-entry.js'
import type { EventParts } from './event-parts.js'
import { commandOf, fieldOf, type Operation } from './operation.js'
import { signalOf } from './sharding-events.js'
import { updateDescription } from './update-description.js'
import { viewChange } from './view-events.js'

export interface StreamEvent {
  readonly type: string
  readonly hex: string
  /** `{ _data, … }` */
  readonly token: Uint8Array
  readonly document: Uint8Array
  readonly clusterTime: TimestampPair
  /** The client has it already, and the router must see it. */
  readonly isStart?: true
}

/**
 * Documents that an event shows. Undefined: the event lacks the field; null: the value is null.
 */
export interface EventImages {
  readonly fullDocument?: Uint8Array | null | undefined
  readonly beforeChange?: Uint8Array | null | undefined
}

const classicTypes: ReadonlySet<string> = new Set([
  'insert',
  'update',
  'replace',
  'delete',
  'drop',
  'rename',
  'dropDatabase',
  'invalidate',
  'kNewShardDetected',
  'reshardBegin',
  'reshardDoneCatchUp',
])

export const isClassic = (type: string): boolean => classicTypes.has(type)

const noParts: Omit<EventParts, 'type' | 'ns' | 'uuid'> = {
  documentKey: null,
  fullDocument: null,
  difference: null,
  description: null,
  to: null,
  stateBefore: null,
  nsType: null,
  reshardingUuid: null,
  isShort: false,
}

/**
 * @param keyOf the document key of an inserted document at the present time
 * @returns null: change streams do not show the operation
 */
export function partsOf(
  operation: Operation,
  { insertEntriesHaveKeys }: Pick<Behaviours, 'insertEntriesHaveKeys'>,
  keyOf: (ns: string, uuid: Uint8Array, document: Uint8Array) => Uint8Array,
): EventParts | null {
  const ns = fieldOf(operation, 'ns')!.asName()
  const uuid = fieldOf(operation, 'ui')?.asBinary() ?? null
  const object = fieldOf(operation, 'o')!
  const op = fieldOf(operation, 'op')!.asString()
  if (op !== 'n' && op !== 'c' && ns.endsWith('.system.views'))
    return { ...noParts, uuid: null, ...viewChange(operation, ns) }
  switch (op) {
    case 'i': {
      const fullDocument = object.slice()
      const key = fieldOf(operation, 'o2')?.slice()
      const documentKey = key ?? (insertEntriesHaveKeys ? idOf(fullDocument) : keyOf(ns, uuid!, fullDocument))
      return { ...noParts, type: 'insert', ns, uuid, fullDocument, documentKey }
    }
    case 'd':
      return { ...noParts, type: 'delete', ns, uuid, documentKey: object.slice() }
    case 'u': {
      const documentKey = fieldOf(operation, 'o2')!.slice()
      const document = object.slice()
      if (firstFieldName(document) !== '$v')
        return { ...noParts, type: 'replace', ns, uuid, fullDocument: document, documentKey }
      return { ...noParts, type: 'update', ns, uuid, documentKey, difference: findField(document, 'diff')! }
    }
    case 'c':
      return { ...noParts, ...commandParts(operation, ns, object, uuid) }
    default:
      return signalParts(operation, ns, uuid!)
  }
}

export function idOf(document: Uint8Array): Uint8Array {
  return new DocumentWriter(64).value('_id', findField(document, '_id')!).finish()
}

function signalParts(operation: Operation, ns: string, uuid: Uint8Array): EventParts | null {
  const signal = signalOf(operation)
  if (signal === null) return null
  const { name, object, hasType } = signal
  const reshardingUuid = findField(object.bytes, 'reshardingUUID', object.start) ?? null
  const parts = { ...noParts, ns, uuid, reshardingUuid }
  if (!hasType) return { ...parts, type: name, description: without(object, [name]).finish() }
  const type = name === 'migrateChunkToNewShard' ? 'kNewShardDetected' : name
  const documentKey = new DocumentWriter(128).value('_id', object).finish()
  return { ...parts, type, documentKey, isShort: true }
}

type CommandParts = Pick<EventParts, 'type' | 'ns' | 'uuid'> & Partial<EventParts>

function commandParts(operation: Operation, cmdNs: string, object: RawValue, uuid: Uint8Array | null): CommandParts {
  const command = commandOf(operation)
  const db = cmdNs.slice(0, -'.$cmd'.length)
  if (command === 'dropDatabase') return { type: 'dropDatabase', ns: db, uuid: null }
  const named = findField(object.bytes, command, object.start)!.asString()
  const ns = `${db}.${named}`
  switch (command) {
    case 'drop':
      return { type: 'drop', ns, uuid }
    case 'renameCollection': {
      const to = findField(object.bytes, 'to', object.start)!.asString()
      return { type: 'rename', ns: named, uuid, to, description: renameDescription(object, to) }
    }
    case 'create':
      return {
        ...{ type: 'create', ns, uuid, nsType: 'collection' },
        description: without(documentValue(withIdIndex(object.slice())), ['create']).finish(),
      }
    case 'createIndexes':
      return { type: 'createIndexes', ns, uuid, description: indexes(without(object, ['createIndexes']).finish()) }
    case 'commitIndexBuild': {
      const built = findField(object.bytes, 'indexes', object.start)!
      return { type: 'createIndexes', ns, uuid, description: new DocumentWriter(256).value('indexes', built).finish() }
    }
    case 'dropIndexes':
      return { type: 'dropIndexes', ns, uuid, description: indexes(fieldOf(operation, 'o2')?.slice() ?? empty) }
    default:
      return {
        ...{ type: 'modify', ns, uuid, description: without(object, ['collMod']).finish() },
        stateBefore: stateBeforeChange(fieldOf(operation, 'o2')),
      }
  }
}

const empty = new Uint8Array([5, 0, 0, 0, 0])

function renameDescription(object: RawValue, to: string): Uint8Array {
  const writer = new DocumentWriter(128)
  for (const it = new FieldIterator(object.bytes, object.start); it.next();) {
    const name = it.name()
    if (name === 'to') writeNamespace(writer, 'to', to)
    else if (name !== 'renameCollection' && name !== 'stayTemp' && it.value().isTruthy()) writer.value(name, it.value())
  }
  return writer.finish()
}

function indexes(spec: Uint8Array): Uint8Array {
  return new DocumentWriter(spec.length + 64).startArray('indexes').document('0', spec).end().finish()
}

function stateBeforeChange(o2: RawValue | undefined): Uint8Array | null {
  if (o2 === undefined) return null
  const writer = new DocumentWriter(256)
  for (const it = new FieldIterator(o2.bytes, o2.start); it.next();) writer.value(it.name().slice(0, -4), it.value())
  return writer.finish()
}

function without(object: RawValue, names: readonly string[]): DocumentWriter {
  const writer = new DocumentWriter(object.end - object.start)
  for (const it = new FieldIterator(object.bytes, object.start); it.next();)
    if (!names.includes(it.name())) writer.value(it.name(), it.value())
  return writer
}

function writeNamespace(writer: DocumentWriter, name: string, ns: string): void {
  const [db, collection] = ns.includes('.') ? splitNamespace(ns) : [ns, null]
  writer.startDocument(name).string('db', db)
  if (collection !== null) writer.string('coll', collection)
  writer.end()
}

/** What tells this event from others of the same time. */
function identifierOf(parts: EventParts, version: TokenVersion): Uint8Array | null {
  const { type, documentKey, description } = parts
  if (version <= 1 && isClassic(type)) return documentKey
  const writer = new DocumentWriter(256).string('operationType', type)
  if (documentKey !== null) writer.document('documentKey', documentKey)
  else if (description !== null) writer.document('operationDescription', description)
  return writer.finish()
}

export class EventWriter {
  readonly #spec: ChangeStreamSpec
  readonly #behaviours: Behaviours

  constructor(spec: ChangeStreamSpec, behaviours: Behaviours) {
    this.#spec = spec
    this.#behaviours = behaviours
  }

  /** @param fromInvalidate of the event that follows and ends the stream */
  token(operation: Operation, parts: EventParts, version: TokenVersion, fromInvalidate = false) {
    return eventToken({
      clusterTime: operation.clusterTime,
      version,
      txnOpIndex: operation.transaction?.txnOpIndex ?? 0,
      fromInvalidate,
      uuid: parts.uuid,
      identifier: identifierOf(parts, version),
    })
  }

  event(operation: Operation, parts: EventParts, token: Uint8Array, images: EventImages): Uint8Array {
    const { changeStreamWallTime: isNew } = this.#behaviours
    const { type, ns, uuid, documentKey, difference, description, to } = parts
    const { showExpandedEvents } = this.#spec
    const writer = new DocumentWriter(operation.document.end - operation.document.start + 512)
    if (parts.reshardingUuid !== null) writer.value('reshardingUUID', parts.reshardingUuid)
    if (isNew && to !== null) writeNamespace(writer, 'to', to)
    if (isNew) this.#writeTransaction(writer, operation)
    writer.document('_id', token).string('operationType', type)
    writer.timestamp('clusterTime', ...operation.clusterTime)
    if (!isNew) this.#writeTransaction(writer, operation)
    if (showExpandedEvents && uuid !== null) writer.uuid('collectionUUID', uuid)
    if (isNew) writer.value('wallTime', findField(operation.entry, 'wall')!)
    if (parts.isShort) return writer.finish()
    const fullDocument = parts.fullDocument ?? images.fullDocument
    if (fullDocument === null && images.fullDocument === null) writer.null('fullDocument')
    else if (fullDocument) writer.document('fullDocument', fullDocument)
    if (images.beforeChange === null) writer.null('fullDocumentBeforeChange')
    else if (images.beforeChange !== undefined) writer.document('fullDocumentBeforeChange', images.beforeChange)
    writeNamespace(writer, 'ns', ns)
    if (!isNew && to !== null) writeNamespace(writer, 'to', to)
    if (documentKey !== null) writer.document('documentKey', documentKey)
    if (showExpandedEvents && description !== null) writer.document('operationDescription', description)
    if (difference !== null) this.#writeUpdate(writer, operation, difference)
    if (parts.stateBefore !== null) writer.document('stateBeforeChange', parts.stateBefore)
    if (showExpandedEvents && parts.nsType !== null && this.#behaviours.changeStreamNsType)
      writer.string('nsType', parts.nsType)
    return writer.finish()
  }

  invalidate(operation: Operation, parts: EventParts, version: TokenVersion): StreamEvent {
    const token = this.token(operation, parts, version, true)
    const writer = new DocumentWriter(256).document('_id', tokenDocument(token)).string('operationType', 'invalidate')
    writer.timestamp('clusterTime', ...operation.clusterTime)
    if (this.#behaviours.changeStreamWallTime) writer.value('wallTime', findField(operation.entry, 'wall')!)
    const { clusterTime } = operation
    return { type: 'invalidate', hex: token.hex, token: tokenDocument(token), document: writer.finish(), clusterTime }
  }

  #writeUpdate(writer: DocumentWriter, operation: Operation, difference: RawValue): void {
    if (this.#spec.showRawUpdateDescription) writer.value('rawUpdateDescription', fieldOf(operation, 'o')!)
    else
      writer.document(
        'updateDescription',
        updateDescription(difference, this.#behaviours, this.#spec.showExpandedEvents),
      )
  }

  #writeTransaction(writer: DocumentWriter, { transaction, entry }: Operation): void {
    if (transaction === null) return
    for (const name of ['txnNumber', 'lsid']) {
      const value = findField(entry, name)
      if (value !== undefined) writer.value(name, value)
    }
  }
}
