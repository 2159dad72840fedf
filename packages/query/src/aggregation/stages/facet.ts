/** $facet: several pipelines over the same documents, in one document. */
import {
  BsonType,
  CommandError,
  DocumentWriter,
  elementsOf,
  FieldIterator,
  firstFieldName,
  isEmptyDocument,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { formatField, formatValue } from '../../values/format.js'
import { checkFieldPath } from '../expressions/field-path.js'
import type { CompiledStage, StageContext, StageOperator } from './stage.js'

const refused = new Set(['$facet', '$out', '$merge', '$geoNear', '$collStats', '$indexStats', '$planCacheStats', '$changeStream'])

function pipelineOf(name: string, value: RawValue): Uint8Array[] {
  if (value.type !== BsonType.array)
    throw new CommandError(40170, `arguments to $facet must be arrays, ${name} is type ${typeName(value.type)}`)
  const stages = elementsOf(value).map((stage, index) => {
    if (stage.type !== BsonType.object || isEmptyDocument(stage.bytes, stage.start))
      throw new CommandError(
        40171,
        `elements of arrays in $facet spec must be non-empty objects, ${name} argument contained an element of type ${typeName(stage.type)}: ${index}: ${formatValue(stage)}`,
      )
    const document = stage.slice()
    const stageName = firstFieldName(document)!
    if (refused.has(stageName)) throw new CommandError(40600, `${stageName} is not allowed to be used within a $facet stage`)
    return document
  })
  if (stages.length === 0) throw new CommandError('BadValue', 'sub-pipeline in $facet stage cannot be empty')
  return stages
}

function compileFacet(argument: RawValue, context: StageContext): CompiledStage {
  if (argument.type !== BsonType.object || isEmptyDocument(argument.bytes, argument.start))
    throw new CommandError(40169, `the $facet specification must be a non-empty object, but found: ${formatField('$facet', argument)}`)
  const facets: { name: string; pipeline: ReturnType<StageContext['compilePipeline']> }[] = []
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const name = it.name()
    if (name.includes('.'))
      throw new CommandError(16412, "FieldPath field names may not contain '.'. Consider using $getField or $setField.")
    checkFieldPath(name)
    facets.push({ name, pipeline: context.compilePipeline(pipelineOf(name, it.value())) })
  }
  return {
    name: '$facet',
    open(next) {
      const runs = facets.map(({ name, pipeline }) => ({ name, run: pipeline.open() }))
      return {
        get satisfied() {
          return runs.every(({ run }) => run.satisfied)
        },
        push(document) {
          for (const { run } of runs) if (!run.satisfied) run.push(document)
        },
        end() {
          const writer = new DocumentWriter()
          for (const { name, run } of runs) {
            run.end()
            writer.documents(name, run.output)
          }
          next.push(writer.finish())
          next.end()
        },
      }
    },
  }
}

export const facetStage: StageOperator = {
  name: '$facet',
  manualPage: 'aggregation/facet',
  status: 'complete',
  sharded: 'merger',
  compile: compileFacet,
}
