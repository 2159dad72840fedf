/**
 * From a record to a document of a find: the projection, and fields computed from the record.
 * Manual: reference/operator/aggregation/meta, reference/command/find (showRecordId).
 */
import {
  BsonType,
  DocumentWriter,
  FieldIterator,
  findField,
  isEmptyDocument,
  nullValue,
  type RawValue,
} from '@shardlab/bson'
import { sortKeyValues, type EvaluationContext, type Projection, type SortPattern } from '@shardlab/query'
import { sortKeyField } from '../cursors/sort-key-order.js'

export interface RecordOfDocument {
  readonly recordId: number
  readonly document: Uint8Array
}

export interface RowShape {
  /** The projection that a plan may run; null: there is none, or {@link RowShape.apply} runs it. */
  readonly projection: Projection | null
  /** For explain; null: there is no projection */
  readonly projectionDocument: Uint8Array | null
  /** Makes results of records; null: the projection alone is enough. */
  readonly apply: ((record: RecordOfDocument) => Uint8Array) | null
}

export interface RowShapeOptions {
  readonly showRecordId: boolean
  readonly sort: SortPattern | undefined
  readonly context: EvaluationContext
  compile(projection: Uint8Array): Projection
}

const recordIdField = '$recordId'

type MetaField = readonly [name: string, what: 'sortKey' | 'recordId']

/** @throws CommandError the errors of `compile` */
export function rowShape(document: Uint8Array | undefined, options: RowShapeOptions): RowShape {
  const { sort, context } = options
  const metas: MetaField[] = []
  const rest =
    document === undefined || isEmptyDocument(document) ? null : withoutMetaFields(document, sort !== undefined, metas)
  if (options.showRecordId && !metas.some(([name]) => name === recordIdField)) metas.push([recordIdField, 'recordId'])
  const projection = rest === null ? null : options.compile(rest)
  if (metas.length === 0) return { projection, projectionDocument: rest, apply: null }
  return {
    projection: null,
    projectionDocument: document ?? null,
    apply(record) {
      const shown = projection === null ? record.document : projection.apply(record.document)
      const writer = new DocumentWriter(shown.length + 64).fields(shown)
      for (const [name, what] of metas) {
        if (what === 'recordId') writer.int64(name, record.recordId)
        else writeSortKey(writer, name, record.document, sort!, context)
      }
      return writer.finish()
    },
  }
}

function writeSortKey(
  writer: DocumentWriter,
  name: string,
  document: Uint8Array,
  sort: SortPattern,
  { strings }: EvaluationContext,
): void {
  writer.startArray(name)
  sortKeyValues(document, sort, strings).forEach((value, i) => writer.value(String(i), value ?? nullValue))
  writer.end()
}

/**
 * Splits off the fields that are computed from the record.
 * @returns the rest; null: nothing is left
 */
function withoutMetaFields(projection: Uint8Array, sorted: boolean, metas: MetaField[]): Uint8Array | null {
  const writer = new DocumentWriter(projection.length)
  for (const it = new FieldIterator(projection); it.next();) {
    const name = it.name()
    const value = it.value()
    if (name === sortKeyField && sorted && metaOf(value) === 'sortKey') metas.push([name, 'sortKey'])
    else if (!name.includes('.') && metaOf(value) === 'recordId') metas.push([name, 'recordId'])
    else writer.value(name, value)
  }
  const rest = writer.finish()
  return isEmptyDocument(rest) ? null : rest
}

function metaOf(value: RawValue): string | null {
  if (value.type !== BsonType.object) return null
  const meta = findField(value.bytes, '$meta', value.start)
  return meta?.type === BsonType.string ? meta.asString() : null
}
