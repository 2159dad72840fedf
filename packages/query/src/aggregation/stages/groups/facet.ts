import {
  BsonType,
  CommandError,
  DocumentWriter,
  elementsOf,
  FieldIterator,
  isEmptyDocument,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { formatField, formatValue } from '../../../values/format.js'
import { checkFieldPath } from '../../expressions/field-path.js'
import type { StageWork } from '../stage-work.js'
import type { CompiledStage, InnerPipeline, StageContext, StageOperator } from '../stage.js'
import type { StageRun } from '../stage-run.js'

function pipelineOf(name: string, value: RawValue): Uint8Array[] {
  if (value.type !== BsonType.array)
    throw new CommandError(40170, `arguments to $facet must be arrays, ${name} is type ${typeName(value.type)}`)
  const stages = elementsOf(value).map((stage, index) => {
    if (stage.type !== BsonType.object || isEmptyDocument(stage.bytes, stage.start))
      throw new CommandError(
        40171,
        `elements of arrays in $facet spec must be non-empty objects, ${name} argument contained an element of type ${typeName(stage.type)}: ${index}: ${formatValue(stage)}`,
      )
    return stage.slice()
  })
  if (stages.length === 0) throw new CommandError('BadValue', 'sub-pipeline in $facet stage cannot be empty')
  return stages
}

function compileFacet(argument: RawValue, context: StageContext): CompiledStage {
  if (argument.type !== BsonType.object || isEmptyDocument(argument.bytes, argument.start))
    throw new CommandError(
      40169,
      `the $facet specification must be a non-empty object, but found: ${formatField('$facet', argument)}`,
    )
  const facets = facetsOf(argument).map(({ name, stages }) => {
    if (name.includes('.'))
      throw new CommandError(16412, "FieldPath field names may not contain '.'. Consider using $getField or $setField.")
    checkFieldPath(name)
    return { name, pipeline: context.compilePipeline('facet', stages) }
  })
  return { name: '$facet', open: (next, rest) => openFacets(facets, next, rest) }
}

interface Facet {
  readonly name: string
  readonly pipeline: InnerPipeline
}

/** For all facets together. Server: internalQueryFacetMaxOutputDocSizeBytes. */
const maxOutputBytes = 100 * 1024 * 1024

function openFacets(facets: readonly Facet[], next: StageRun, rest: StageWork): StageRun {
  // Facets with joins end later than their input, and at different times.
  let open = facets.length
  let outputBytes = 0
  const runs = facets.map(({ name, pipeline }) => {
    const documents: Uint8Array[] = []
    const sink: StageRun = {
      push(document) {
        outputBytes += document.length
        if (outputBytes > maxOutputBytes)
          throw new CommandError(
            4031700,
            `document constructed by $facet is ${outputBytes} bytes, which exceeds the limit of ${maxOutputBytes} bytes`,
          )
        documents.push(document)
      },
      end() {
        open--
        if (open === 0) finish()
      },
      satisfied: false,
    }
    return { name, documents, run: pipeline.open(sink, rest) }
  })
  const finish = () => {
    const writer = new DocumentWriter()
    for (const { name, documents } of runs) writer.documents(name, documents)
    next.push(writer.finish())
    next.end()
  }
  return {
    get satisfied() {
      return next.satisfied || runs.every(({ run }) => run.satisfied)
    },
    push(document) {
      for (const { run } of runs) if (!run.satisfied) run.push(document)
    },
    end() {
      for (const { run } of runs) run.end()
    },
  }
}

function facetsOf(argument: RawValue): { name: string; stages: Uint8Array[] }[] {
  const facets: { name: string; stages: Uint8Array[] }[] = []
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();)
    facets.push({ name: it.name(), stages: pipelineOf(it.name(), it.value()) })
  return facets
}

export const facetStage: StageOperator = {
  name: '$facet',
  manualPage: 'aggregation/facet',
  status: 'complete',
  sharded: 'merger',
  notIn: ['facet'],
  nested: (argument) => facetsOf(argument).map(({ stages }) => stages),
  compile: compileFacet,
}
