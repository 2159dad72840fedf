import type { DistributionName } from '../data/distributions.js'
import { RecordTemplate, TemplateError, type TextField } from './template.js'
import type { OperationKind, OperationSource, PhaseSource, WorkloadSource } from './schema.js'

export interface Operation {
  readonly index: number
  readonly name: string
  readonly kind: OperationKind
  readonly weight: number
  readonly by: readonly string[]
  readonly range: { readonly field: string; readonly width: number | null } | null
  readonly filter: Readonly<Record<string, unknown>> | null
  readonly sort: Readonly<Record<string, 1 | -1>> | null
  /** The limit is drawn from this range; null: no limit. */
  readonly limit: readonly [number, number] | null
  readonly pipeline: readonly Readonly<Record<string, unknown>>[]
  /** Text fields to write. */
  readonly fields: number
  /** Records that one operation creates. */
  readonly newRecords: number
  readonly distribution: DistributionName
  /** null: one operation outside of transactions. */
  readonly transaction: TransactionShape | null
}

export interface TransactionShape {
  readonly reads: number
  /** Updates of other records. */
  readonly writes: number
  /** Size of the block of records that has all of them; null: any records. */
  readonly within: number | null
}

export interface Workload {
  readonly name: string
  readonly seed: number
  readonly ns: string
  readonly database: string
  readonly collection: string
  readonly records: number
  /** null: unsharded. */
  readonly shardKey: Readonly<Record<string, 1 | 'hashed'>> | null
  readonly indexes: readonly Readonly<Record<string, 1 | -1 | 'hashed'>>[]
  readonly template: RecordTemplate
  readonly operations: readonly Operation[]
  readonly phases: readonly PhaseSource[] | null
  /** Worker threads build the workload from it again. */
  readonly source: WorkloadSource
}

/** Parts contradict each other; `path` leads to one of them. */
export class WorkloadRuleError extends Error {
  readonly path: readonly (string | number)[]

  constructor(message: string, path: readonly (string | number)[]) {
    super(message)
    this.path = path
  }
}

const writes: readonly OperationKind[] = ['update', 'readModifyWrite', 'transaction']
const makers: readonly OperationKind[] = ['insert', 'bulkInsert', 'upsert']

const bulkDocuments = 100
const writingStages = ['$out', '$merge']
/** `maxBsonObjectSize` and `maxMessageSizeBytes` of every server. */
const documentBytesMax = 16_777_216
const messageBytesMax = 48_000_000

/** @throws WorkloadRuleError */
export function compileWorkload(source: WorkloadSource): Workload {
  const template = compileTemplate(source)
  const recordBytes = template.texts.reduce((sum, { name, length }) => sum + name.length + length + 7, 0)
  const rule = (holds: boolean, message: string, ...path: (string | number)[]): void => {
    if (!holds) throw new WorkloadRuleError(message, path)
  }
  const known = template.fieldNames.join(', ')
  const dot = source.ns.indexOf('.')
  const [database, collection] = [source.ns.slice(0, dot), source.ns.slice(dot + 1)]
  rule(
    !['admin', 'config', 'local'].includes(database) && !collection.startsWith('system.'),
    "must not be one of the server's own",
    'ns',
  )
  rule(
    recordBytes < documentBytesMax,
    `must have texts of less than ${documentBytesMax} bytes, the most of a document, not ${recordBytes}`,
    'record',
  )
  for (const field of Object.keys(source.shardKey ?? {})) {
    rule(template.has(field), `must be a field of the record (${known})`, 'shardKey', field)
    rule(
      !template.texts.some(({ name }) => name === field),
      'must not be a text, which updates change',
      'shardKey',
      field,
    )
  }
  const operations = Object.entries(source.operations).map(([name, operation], index): Operation => {
    const kind = operation.do
    const at = (field: string): string[] => ['operations', name, field]
    const fields = [...(operation.by ?? []), ...(operation.range === undefined ? [] : [operation.range.field])]
    for (const field of fields) {
      const where = operation.by?.includes(field) === true ? 'by' : 'range'
      rule(template.has(field), `must use fields of the record; ${field} is not one of ${known}`, ...at(where))
      rule(
        !template.texts.some((text) => text.name === field),
        `must not use ${field}, a text that updates change`,
        ...at(where),
      )
    }
    const makes = makers.includes(kind)
    const isWrite = writes.includes(kind)
    rule(
      makes || !isWrite || operation.by?.includes('_id') === true,
      'needs by with _id: an update must name its record',
      ...at('do'),
    )
    rule(!makes || fields.length === 0, 'must have neither by nor range: it makes records', ...at('do'))
    rule(kind !== 'findOne' || operation.by !== undefined, 'needs by', ...at('do'))
    rule(!isWrite || operation.range === undefined, 'must have no range: it is an update', ...at('do'))
    rule(!(makes || isWrite) || operation.filter === undefined, 'is allowed only for reads', ...at('filter'))
    rule(
      operation.documents === undefined || kind === 'bulkInsert',
      'is allowed only for bulkInsert',
      ...at('documents'),
    )
    rule(operation.pipeline === undefined || kind === 'aggregate', 'is allowed only for aggregate', ...at('pipeline'))
    const stage = operation.pipeline?.flatMap(Object.keys).find((name) => writingStages.includes(name))
    rule(stage === undefined, `must not have ${stage}, which writes to other collections`, ...at('pipeline'))
    rule(
      kind !== 'bulkInsert' || (operation.documents ?? bulkDocuments) * recordBytes < messageBytesMax,
      `must be fewer: these documents exceed the ${messageBytesMax} bytes of a message`,
      ...at('documents'),
    )
    rule(
      operation.fields === undefined || isWrite,
      'is allowed only for update, readModifyWrite and transaction',
      ...at('fields'),
    )
    rule(operation.limit === undefined || kind === 'find', 'is allowed only for find', ...at('limit'))
    rule(operation.sort === undefined || kind === 'find', 'is allowed only for find', ...at('sort'))
    rule(!isWrite || template.texts.length > 0, 'needs a record with a $text, which updates change', ...at('do'))
    const firstKeyField = Object.keys(source.shardKey ?? {})[0]
    rule(
      operation.filter === undefined || firstKeyField === undefined || !(firstKeyField in operation.filter),
      `must not name ${firstKeyField}, the shard key: use by or range, which tell where the operation goes`,
      ...at('filter'),
    )
    const width = operation.range?.width
    rule(
      width === undefined || isNumeric(template, operation.range!.field),
      'must be a number, $int or $key, to have a width',
      ...at('range'),
    )
    const written = operation.fields === 'all' ? template.texts.length : (operation.fields ?? 1)
    rule(
      !isWrite || written <= template.texts.length,
      `must be at most ${template.texts.length}, the texts of a record`,
      ...at('fields'),
    )
    const transaction = transactionOf(operation, source.records, (holds, message, field) =>
      rule(holds, message, ...at(field)),
    )
    const limit = operation.limit
    rule(!Array.isArray(limit) || limit[0] <= limit[1], 'must be [from, to] with from at most to', ...at('limit'))
    return {
      index,
      name,
      kind,
      weight: operation.weight,
      by: operation.by ?? [],
      range: operation.range === undefined ? null : { field: operation.range.field, width: width ?? null },
      filter: operation.filter ?? null,
      sort: operation.sort ?? null,
      limit: limit === undefined ? null : Array.isArray(limit) ? [limit[0], limit[1]] : [limit, limit],
      pipeline: operation.pipeline ?? [],
      fields: isWrite && (transaction === null || transaction.writes > 0) ? written : 0,
      newRecords: !makes ? 0 : kind === 'bulkInsert' ? (operation.documents ?? bulkDocuments) : 1,
      distribution: operation.distribution ?? source.distribution,
      transaction,
    }
  })
  rule(
    operations.some(({ weight }) => weight > 0),
    'must have a weight above 0',
    'operations',
  )
  source.phases?.forEach(({ mix }, i) => {
    for (const name of Object.keys(mix ?? {}))
      rule(
        name in source.operations,
        `must be one of the operations (${Object.keys(source.operations).join(', ')})`,
        'phases',
        i,
        'mix',
        name,
      )
    rule(
      mix === undefined || Object.values(mix).some((weight) => weight > 0),
      'must have a weight above 0',
      'phases',
      i,
      'mix',
    )
  })
  return {
    ...{
      name: source.name,
      seed: source.seed,
      ns: source.ns,
      records: source.records,
      shardKey: source.shardKey,
      indexes: source.indexes,
    },
    database,
    collection,
    template,
    operations,
    phases: source.phases ?? null,
    source,
  }
}

const readsOrWritesDefault = 1

function transactionOf(
  { do: kind, reads, writes, within }: OperationSource,
  records: number,
  rule: (holds: boolean, message: string, field: string) => void,
): TransactionShape | null {
  if (kind !== 'transaction') {
    for (const [field, value] of Object.entries({ reads, writes, within }))
      rule(value === undefined, 'is allowed only for transaction', field)
    return null
  }
  const shape = { reads: reads ?? readsOrWritesDefault, writes: writes ?? readsOrWritesDefault, within: within ?? null }
  const count = shape.reads + shape.writes
  rule(count > 0, 'must be above 0, or writes must', 'reads')
  rule(count <= records, `must be fewer: with the writes, ${count} records of ${records}`, 'reads')
  rule(within === undefined || within >= count, `must be at least ${count}, the records of a transaction`, 'within')
  rule(within === undefined || within <= records, `must be at most ${records}, the number of records`, 'within')
  return shape
}

function compileTemplate(source: WorkloadSource): RecordTemplate {
  try {
    return new RecordTemplate(source.record, source.seed)
  } catch (error) {
    if (error instanceof TemplateError) throw new WorkloadRuleError(error.message, ['record', ...error.path])
    throw error
  }
}

function isNumeric(template: RecordTemplate, field: string): boolean {
  const generator = template.generatorOf(field)?.name
  return generator === '$int' || generator === '$key'
}

/** `count` fields from `first`, wrapping around. */
export function textsFrom(texts: readonly TextField[], first: number, count: number): TextField[] {
  return Array.from({ length: count }, (_, i) => texts[(first + i) % texts.length]!)
}
