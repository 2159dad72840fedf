/**
 * Log entries of kind c, with the commands of the server's oplog. Server: oplog.cpp
 * (applyCommand_inlock).
 */
import {
  BsonType,
  CommandError,
  DocumentWriter,
  FieldIterator,
  findField,
  firstFieldName,
  sameBytes,
  type RawValue,
} from '@shardlab/bson'
import { isIdKey, parseIndexSpec } from '../index-specs/index-spec.js'
import type { LogEntry } from '../log/log-entry.js'
import { MemoryCollection } from './memory-collection.js'
import { prepareIndex } from '../index-specs/prepare-index.js'

type Collections = Map<string, MemoryCollection>

/**
 * @returns size of the documents whose collection was dropped
 * @throws CommandError NamespaceExists, NamespaceNotFound, IndexNotFound and the errors of invalid
 *   indexes; nothing has changed then
 */
export function applyCommand(collections: Collections, entry: LogEntry): number {
  const db = entry.ns.slice(0, entry.ns.indexOf('.'))
  const command = firstFieldName(entry.object)
  switch (command) {
    case 'drop':
      return drop(collections, mustFind(collections, targetNs(entry, db, 'drop')))
    case 'dropDatabase': {
      const dropped = [...collections.values()].filter(({ ns }) => ns.startsWith(`${db}.`))
      return dropped.reduce((bytes, collection) => bytes + drop(collections, collection), 0)
    }
    case 'renameCollection':
      return rename(collections, entry.object)
    case 'create':
      create(collections, targetNs(entry, db, 'create'), entry)
      return 0
    case 'createIndexes':
      createIndex(mustFind(collections, targetNs(entry, db, 'createIndexes')), entry)
      return 0
    case 'dropIndexes':
      mustFind(collections, targetNs(entry, db, 'dropIndexes')).dropIndex(findField(entry.object, 'index')!.asString())
      return 0
    case 'collMod':
      modify(mustFind(collections, targetNs(entry, db, 'collMod')), entry.object)
      return 0
    default:
      throw new Error(`unknown command in a log entry: ${command}`)
  }
}

/** Full names of the collections that the command of an entry can replace, change or drop. */
export function namesChangedBy(collections: Collections, { ns, object }: LogEntry): readonly string[] {
  const db = ns.slice(0, ns.indexOf('.'))
  const command = firstFieldName(object)!
  if (command === 'dropDatabase') return [...collections.keys()].filter((name) => name.startsWith(`${db}.`))
  const name = findField(object, command)!.asString()
  return command === 'renameCollection' ? [name, findField(object, 'to')!.asString()] : [`${db}.${name}`]
}

function drop(collections: Collections, { ns, dataSizeBytes }: MemoryCollection): number {
  collections.delete(ns)
  return dataSizeBytes
}

function targetNs(entry: LogEntry, db: string, command: string): string {
  return `${db}.${findField(entry.object, command)!.asString()}`
}

function mustFind(collections: Collections, ns: string): MemoryCollection {
  const collection = collections.get(ns)
  if (collection === undefined) throw new CommandError('NamespaceNotFound', `ns not found ${ns}`)
  return collection
}

/** `{ create: name, …options, uuid, idIndex }`; all fields between name and uuid are options. */
function create(collections: Collections, ns: string, entry: LogEntry): void {
  if (collections.has(ns)) throw new CommandError('NamespaceExists', `Collection ${ns} already exists.`)
  const uuid = entry.uuid ?? uuidOf(findField(entry.object, 'uuid'))
  if (uuid === null) throw new Error(`the log entry that creates ${ns} has no uuid`)
  const idIndex = findField(entry.object, 'idIndex')
  const version = idIndex !== undefined && findField(idIndex.bytes, 'v', idIndex.start)?.asNumber() === 1 ? 1 : 2
  const options = without(entry.object, ['create', 'uuid', 'idIndex'])
  collections.set(ns, MemoryCollection.create(ns, uuid, options, entry.wallMs, version))
}

/** `{ createIndexes: name, v, key, name, … }`: one index. Does nothing if the index exists. */
function createIndex(collection: MemoryCollection, { object, wallMs }: LogEntry): void {
  // The entry is complete: without a collation in it, the index does not inherit the collection's.
  const known = { ns: collection.ns, indexes: () => collection.indexes() }
  const spec = prepareIndex(known, without(object, ['createIndexes']))
  if (spec !== null) collection.addIndex(spec, wallMs)
}

/**
 * `{ renameCollection: from, to, stayTemp?, dropTarget? }` with full names. Clears `temp` unless
 * `stayTemp` is set.
 */
function rename(collections: Collections, command: Uint8Array): number {
  const from = findField(command, 'renameCollection')!.asString()
  const to = findField(command, 'to')!.asString()
  const collection = mustFind(collections, from)
  const target = collections.get(to)
  if (target !== undefined && !(findField(command, 'dropTarget')?.isTruthy() ?? false)) {
    throw new CommandError('NamespaceExists', 'target namespace exists')
  }
  const droppedBytes = target === undefined || target === collection ? 0 : drop(collections, target)
  collections.delete(from)
  collection.rename(to)
  if (findField(collection.options, 'temp') !== undefined && findField(command, 'stayTemp')?.isTruthy() !== true)
    collection.changeOptions(without(collection.options, ['temp']))
  collections.set(to, collection)
  return droppedBytes
}

/** `{ collMod: name, index?: { name | keyPattern, hidden?, expireAfterSeconds? }, …options }`. */
function modify(collection: MemoryCollection, command: Uint8Array): void {
  const change = findField(command, 'index')
  if (change !== undefined) modifyIndex(collection, change.slice())
  const options = merged(collection.options, without(command, ['collMod', 'index']))
  // `expireAfterSeconds: 'off'` stops the expiry of a clustered collection.
  const endsExpiry = findField(options, 'expireAfterSeconds')?.type === BsonType.string
  collection.changeOptions(endsExpiry ? without(options, ['expireAfterSeconds']) : options)
}

function modifyIndex(collection: MemoryCollection, change: Uint8Array): void {
  const name = findField(change, 'name')?.asString()
  const key = findField(change, 'keyPattern')?.slice()
  const index = collection
    .indexes()
    .find((candidate) => (name === undefined ? sameBytes(candidate.key, key!) : candidate.name === name))
  if (index === undefined) {
    throw new CommandError('IndexNotFound', `cannot find index ${name ?? ''} for ns ${collection.ns}`)
  }
  if (isIdKey(index.key)) throw new CommandError('BadValue', "can't hide _id index")
  const spec = merged(index.spec, without(change, ['name', 'keyPattern']))
  const { hidden, prepareUnique } = parseIndexSpec(spec)
  const off = [...(hidden ? [] : ['hidden']), ...(prepareUnique ? [] : ['prepareUnique'])]
  collection.changeIndex(index.name, without(spec, off))
}

function uuidOf(value: RawValue | undefined): Uint8Array | null {
  return value?.type === BsonType.binary ? value.asBinary() : null
}

function without(document: Uint8Array, names: readonly string[]): Uint8Array {
  const writer = new DocumentWriter(document.length)
  for (const it = new FieldIterator(document); it.next();)
    if (!names.includes(it.name())) writer.value(it.name(), it.value())
  return writer.finish()
}

function merged(base: Uint8Array, changes: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(base.length + changes.length)
  for (const it = new FieldIterator(base); it.next();)
    writer.value(it.name(), findField(changes, it.name()) ?? it.value())
  for (const it = new FieldIterator(changes); it.next();)
    if (findField(base, it.name()) === undefined) writer.value(it.name(), it.value())
  return writer.finish()
}
