import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField, validateBson } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import type { Collection } from '@shardlab/storage'
import type { NodeInvocation } from '../invocation.js'
import { writeNumber } from '../statistics/write-number.js'

export const validateFields = {
  full: 'any',
  background: 'any',
  repair: 'any',
  fixMultikey: 'any',
  metadata: 'any',
  checkBSONConformance: 'any',
  enforceFastCount: 'any',
  warnOnSchemaValidation: 'any',
} as const

export const validate: CommandRow<NodeInvocation> = {
  name: 'validate',
  routing: 'all-shards',
  access: 'admin',
  manual: 'reference/command/validate',
  status: 'full',
  summary: 'Checks the documents and indexes of a collection.',
  fields: validateFields,
  async run(invocation) {
    const { args, db, host } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    await host.role.enter(ns, invocation)
    if (args.bool('repair') === true)
      throw new CommandError(
        'InvalidOptions',
        'Running the validate command with { repair: true } can only be performed in standalone mode.',
      )
    if (args.bool('background') === true && args.bool('full') === true)
      throw new CommandError(
        'InvalidOptions',
        'Running the validate command with both { background: true } and { full: true } is not supported.',
      )
    const collection = host.collection(ns)
    if (collection === undefined) {
      if (findView(invocation, ns)) throw new CommandError('CommandNotSupportedOnView', 'Cannot validate a view')
      throw new CommandError('NamespaceNotFound', `Collection '${ns}' does not exist to validate.`)
    }
    return writeResult(collection, check(invocation, collection))
  },
}

function findView({ host, db }: NodeInvocation, ns: string): boolean {
  const views = host.collection(`${db}.system.views`)
  if (views === undefined) return false
  const scan = views.scan()
  for (let record = scan.next(); record !== null; record = scan.next()) {
    const id = findField(record.document, '_id')
    if (id?.type === BsonType.string && id.asString() === ns) return true
  }
  return false
}

interface Findings {
  records: number
  invalid: number
  nonCompliant: number
  /** Number of keys of each index, by its name. */
  readonly keys: Map<string, number>
  readonly brokenIndexes: Set<string>
}

/** Reads every document and every key. */
function check({ host }: NodeInvocation, collection: Collection): Findings {
  const findings: Findings = { records: 0, invalid: 0, nonCompliant: 0, keys: new Map(), brokenIndexes: new Set() }
  const validator = findField(collection.options, 'validator')
  const filter = validator?.type === BsonType.object ? compileFilter(validator.slice(), host.evaluation()) : null
  const expected = new Map<string, number>()
  const indexes = collection.indexes()
  const scan = collection.scan()
  for (let record = scan.next(); record !== null; record = scan.next()) {
    findings.records++
    if (validateBson(record.document) !== null) {
      findings.invalid++
      continue
    }
    if (filter !== null && !filter.matches(record.document)) findings.nonCompliant++
    for (const index of indexes) expected.set(index.name, (expected.get(index.name) ?? 0) + index.keysOf(record.document).length)
  }
  for (const index of indexes) {
    let keys = 0
    for (const cursor = index.scanKeys(undefined, undefined, false); cursor.next() >= 0;) keys++
    findings.keys.set(index.name, keys)
    if (keys !== (expected.get(index.name) ?? 0)) findings.brokenIndexes.add(index.name)
  }
  return findings
}

function writeResult(collection: Collection, { records, invalid, nonCompliant, keys, brokenIndexes }: Findings): DocumentWriter {
  const writer = new DocumentWriter(1024).string('ns', collection.ns).uuid('uuid', collection.uuid)
  writeNumber(writer, 'nInvalidDocuments', invalid)
  writeNumber(writer, 'nNonCompliantDocuments', nonCompliant)
  writeNumber(writer, 'nrecords', records)
  writer.int32('nIndexes', keys.size).startDocument('keysPerIndex')
  for (const [name, count] of keys) writeNumber(writer, name, count)
  writer.end().startDocument('indexDetails')
  for (const name of keys.keys()) writer.startDocument(name).bool('valid', !brokenIndexes.has(name)).end()
  writer
    .end()
    .bool('valid', invalid === 0 && brokenIndexes.size === 0)
    .bool('repaired', false)
    .startArray('warnings')
  if (nonCompliant > 0)
    writer.string('0', "Detected one or more documents not compliant with the collection's schema. Check logs for log id 5363500.")
  writer.end().startArray('errors')
  const errors = [...brokenIndexes].map((name) => `Found errors in ${name}`)
  if (invalid > 0) errors.unshift('Detected one or more invalid documents. See logs.')
  errors.forEach((error, i) => writer.string(String(i), error))
  return writer.end().startArray('extraIndexEntries').end().startArray('missingIndexEntries').end().startArray('corruptRecords').end()
}
