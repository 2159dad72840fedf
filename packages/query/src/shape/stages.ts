/** Stages of a pipeline in a query shape. Server: `DocumentSource::serialize` of each stage. */
import { BsonType, documentsOf, DocumentWriter, FieldIterator, type RawValue } from '@shardlab/bson'
import { filterShape, projectionShape, sortShape } from './clauses.js'
import { writeExpression } from './expressions.js'
import { literalText } from './literals.js'

/** `names`: strings stay, other scalars are literals. `kept`: there are no literals. */
type Form = 'literal' | 'names' | 'kept' | 'expression' | 'filter' | 'sort' | 'projection' | 'pipeline' | 'pipelines'

interface Fields {
  readonly fields: Readonly<Record<string, Form>>
  /** Of all other fields. */
  readonly others: Form
}

/** Stages that are not listed are kept: they have no literals. */
const stageForms: Readonly<Record<string, Form | Fields>> = {
  $addFields: 'expression',
  $bucket: 'expression',
  $bucketAuto: 'expression',
  $densify: 'names',
  $documents: 'expression',
  $facet: 'pipelines',
  $fill: { fields: { sortBy: 'sort', partitionBy: 'expression' }, others: 'names' },
  $graphLookup: {
    fields: { startWith: 'expression', restrictSearchWithMatch: 'filter', maxDepth: 'literal' },
    others: 'names',
  },
  $group: 'expression',
  $limit: 'literal',
  $lookup: { fields: { let: 'expression', pipeline: 'pipeline' }, others: 'names' },
  $match: 'filter',
  $project: 'projection',
  $redact: 'expression',
  $replaceRoot: 'expression',
  $replaceWith: 'expression',
  $sample: 'names',
  $set: 'expression',
  $setWindowFields: { fields: { sortBy: 'sort' }, others: 'expression' },
  $skip: 'literal',
  $sort: 'sort',
  $sortByCount: 'expression',
  $unionWith: { fields: { pipeline: 'pipeline' }, others: 'names' },
  $unwind: 'names',
}

/** @throws CommandError of a filter */
export function pipelineShape(stages: readonly Uint8Array[]): Uint8Array[] {
  return stages.map((stage) => {
    const writer = new DocumentWriter(stage.length + 64)
    for (const it = new FieldIterator(stage); it.next();) {
      const name = it.name()
      const form = Object.hasOwn(stageForms, name) ? stageForms[name]! : 'kept'
      if (typeof form === 'string') write(writer, name, it.value(), form)
      else writeFields(writer, name, it.value(), form)
    }
    return writer.finish()
  })
}

function writeFields(writer: DocumentWriter, name: string, value: RawValue, { fields, others }: Fields): void {
  if (value.type !== BsonType.object) return write(writer, name, value, others)
  writer.startDocument(name)
  for (const it = new FieldIterator(value.bytes, value.start); it.next();)
    write(writer, it.name(), it.value(), Object.hasOwn(fields, it.name()) ? fields[it.name()]! : others)
  writer.end()
}

function write(writer: DocumentWriter, name: string, value: RawValue, form: Form): void {
  const isDocument = value.type === BsonType.object
  if (form === 'kept') writer.value(name, value)
  else if (form === 'literal') writer.string(name, literalText(value))
  else if (form === 'names') writeNames(writer, name, value)
  else if (form === 'filter' && isDocument) writer.document(name, filterShape(value.slice()))
  else if (form === 'sort' && isDocument) writer.document(name, sortShape(value))
  else if (form === 'projection' && isDocument) writer.document(name, projectionShape(value))
  else if (form === 'pipeline' && value.type === BsonType.array) writer.documents(name, pipelineShape(stagesIn(value)))
  else if (form === 'pipelines' && isDocument) writePipelines(writer, name, value)
  else writeExpression(writer, name, value)
}

/** The shape of an invalid pipeline does not matter: the command fails. */
function stagesIn(pipeline: RawValue): Uint8Array[] {
  for (const it = new FieldIterator(pipeline.bytes, pipeline.start); it.next();)
    if (it.type !== BsonType.object) return []
  return documentsOf(pipeline)
}

function writePipelines(writer: DocumentWriter, name: string, value: RawValue): void {
  writer.startDocument(name)
  for (const it = new FieldIterator(value.bytes, value.start); it.next();)
    write(writer, it.name(), it.value(), 'pipeline')
  writer.end()
}

function writeNames(writer: DocumentWriter, name: string, value: RawValue): void {
  if (value.type === BsonType.string) writer.value(name, value)
  else if (value.type !== BsonType.object && value.type !== BsonType.array) writer.string(name, literalText(value))
  else {
    if (value.type === BsonType.object) writer.startDocument(name)
    else writer.startArray(name)
    for (const it = new FieldIterator(value.bytes, value.start); it.next();) writeNames(writer, it.name(), it.value())
    writer.end()
  }
}
