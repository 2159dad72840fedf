/**
 * Manual: reference/command/validate. Server: validate.cpp, collection_validation.cpp,
 * index_consistency.cpp.
 */
import { BsonType, DocumentWriter, findField, keyStringFieldEnd, nullValue, validateBson } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import {
  checkIndex,
  type Collection,
  type ExtraKey,
  type Index,
  type IndexCheck,
  type MissingKey,
} from '@shardlab/storage'
import type { NodeHost } from '../host/node-host.js'
import type { SteppedWork } from '../read/in-turns.js'

/** Entries are listed up to this total size, the smallest first. */
const listedBytes = 1024 * 1024

export interface Inspection {
  readonly records: number
  readonly invalid: number
  readonly nonCompliant: number
  readonly indexes: readonly (readonly [Index, IndexCheck])[]
}

/** Reads every document and, for each index, every key. The collection must not change. */
export function* inspectCollection(host: NodeHost, collection: Collection): SteppedWork<Inspection> {
  const validator = findField(collection.options, 'validator')
  const filter = validator?.type === BsonType.object ? compileFilter(validator.slice(), host.evaluation()) : null
  let records = 0
  let invalid = 0
  let nonCompliant = 0
  const scan = collection.scan()
  for (let record = scan.next(); record !== null; record = scan.next()) {
    records++
    if (validateBson(record.document) !== null) invalid++
    else if (filter !== null && !filter.matches(record.document)) nonCompliant++
    yield
  }
  // A broken document has no keys, so indexes cannot be compared with it.
  const indexes: [Index, IndexCheck][] = []
  if (invalid === 0)
    for (const index of collection.indexes()) indexes.push([index, yield* checkIndex(collection, index)])
  return { records, invalid, nonCompliant, indexes }
}

export function writeInspection(
  collection: Collection,
  inspection: Inspection,
  behaviours: Behaviours,
): DocumentWriter {
  const { records, invalid, nonCompliant, indexes } = inspection
  const broken = indexes.filter(([, { missing, extra }]) => missing.length + extra.length > 0)
  const missing = listed(indexes.flatMap(([index, check]) => check.missing.map((key) => missingEntry(index, key))))
  const extra = listed(indexes.flatMap(([index, check]) => check.extra.map((key) => extraEntry(index, key))))
  const warnings: string[] = []
  const errors: string[] = []
  if (invalid > 0) errors.push('Detected one or more invalid documents. See logs.')
  if (nonCompliant > 0 && behaviours.validateChecksSchema)
    warnings.push(
      "Detected one or more documents not compliant with the collection's schema. Check logs for log id 5363500.",
    )
  for (const [index] of broken) errors.push(`Index with name '${index.name}' has inconsistencies.`)
  if (missing.isShortened)
    errors.push('Not all missing index entry inconsistencies are listed due to size limitations.')
  if (extra.isShortened) errors.push('Not all extra index entry inconsistencies are listed due to size limitations.')
  if (missing.total > 0) warnings.push(`Detected ${missing.total} missing index entries.`)
  if (extra.total > 0) warnings.push(`Detected ${extra.total} extra index entries.`)
  const isValid = invalid === 0 && broken.length === 0

  const writer = new DocumentWriter(1024).string('ns', collection.ns)
  if (behaviours.validateReportsUuid) writer.uuid('uuid', collection.uuid)
  writer.integer('nInvalidDocuments', invalid)
  if (behaviours.validateChecksSchema) writer.integer('nNonCompliantDocuments', nonCompliant)
  writer.integer('nrecords', records)
  writer.int32('nIndexes', collection.indexes().length).startDocument('keysPerIndex')
  for (const [{ name }, { keys }] of indexes) writer.integer(name, keys)
  writer.end().startDocument('indexDetails')
  for (const entry of indexes) writer.startDocument(entry[0].name).bool('valid', !broken.includes(entry)).end()
  writer.end().bool('valid', isValid)
  if (behaviours.validateReportsRepairs) writer.bool('repaired', false)
  writeTexts(writer, 'warnings', warnings)
  writeTexts(writer, 'errors', errors)
  writer.documents('extraIndexEntries', extra.entries).documents('missingIndexEntries', missing.entries)
  if (behaviours.validateReportsRepairs) writer.startArray('corruptRecords').end()
  if (!isValid)
    writer.string(
      'advice',
      'A corrupt namespace has been detected. See http://dochub.mongodb.org/core/data-recovery for recovery steps.',
    )
  return writer
}

function writeTexts(writer: DocumentWriter, name: string, texts: readonly string[]): void {
  writer.startArray(name)
  texts.forEach((text, i) => writer.string(String(i), text))
  writer.end()
}

/** `{ indexName, recordId, idKey: { _id }, indexKey: { … } }` */
function missingEntry(index: Index, { record, values }: MissingKey): Uint8Array {
  const writer = new DocumentWriter(256)
    .string('indexName', index.name)
    .int64('recordId', record.recordId)
    .startDocument('idKey')
  const id = findField(record.document, '_id')
  if (id !== undefined) writer.value('_id', id)
  writer.end().startDocument('indexKey')
  keyNames(index).forEach((name, i) => writer.value(name, values[i] ?? nullValue))
  return writer.end().finish()
}

/** `{ indexName, recordId, indexKey: { … } }`; the values are the bytes of their KeyStrings. */
function extraEntry(index: Index, { recordId, key }: ExtraKey): Uint8Array {
  const writer = new DocumentWriter(256)
    .string('indexName', index.name)
    .int64('recordId', recordId)
    .startDocument('indexKey')
  let start = 0
  for (const name of keyNames(index)) {
    const direction = index.pattern.find(({ path }) => path === name)?.direction
    const end = keyStringFieldEnd(key, start, direction === -1)
    writer.binary(name, 0, Buffer.from(key.slice(start, end), 'latin1'))
    start = end
  }
  return writer.end().finish()
}

/** Names of the values in a key: that of a wildcard index has the path next to the value. */
function keyNames({ pattern, wildcard }: Index): readonly string[] {
  return pattern.flatMap(({ path }) => (wildcard !== null && path.endsWith('$**') ? ['$_path', path] : [path]))
}

interface Listed {
  readonly entries: readonly Uint8Array[]
  readonly total: number
  readonly isShortened: boolean
}

/** At least one, even if it exceeds {@link listedBytes}. */
function listed(entries: readonly Uint8Array[]): Listed {
  let bytes = 0
  const sorted = [...entries].sort((a, b) => a.length - b.length)
  const shown = sorted.filter((entry, i) => {
    bytes += entry.length
    return i === 0 || bytes <= listedBytes
  })
  return { entries: shown, total: entries.length, isShortened: shown.length < entries.length }
}
