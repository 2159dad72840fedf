/** Rewritten to a $setWindowFields and an $addFields. Server: `document_source_fill.cpp`. */
import {
  BsonType,
  CommandError,
  documentValue,
  DocumentWriter,
  FieldIterator,
  findField,
  isEmptyDocument,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { compileAddFields } from '../../../projection/add-fields.js'
import { parseStruct, stringsOf } from '../../../values/idl.js'
import { windowStage } from '../../windows/set-window-fields.js'
import { mapStage, type CompiledStage, type StageContext, type StageOperator } from '../stage.js'

const methods: Readonly<Record<string, string>> = { locf: '$locf', linear: '$linearFill' }

interface FillOutput {
  /** The output of the $setWindowFields. */
  readonly windows: Uint8Array
  /** The specification of the $addFields. */
  readonly values: Uint8Array
}

function parseOutput(output: RawValue): FillOutput {
  const windows = new DocumentWriter()
  const values = new DocumentWriter()
  for (const it = new FieldIterator(output.bytes, output.start); it.next();) {
    const path = it.name()
    const specification = it.value()
    if (specification.type !== BsonType.object)
      throw new CommandError(6050200, 'Each fill output specification must be an object with exactly one field')
    const given = parseStruct('$fill', specification, { value: {}, method: { types: ['string'] } })
    const value = given.get('value')
    const method = given.get('method')
    if (method !== undefined) {
      if (value !== undefined)
        throw new CommandError(
          6050201,
          "Each fill output specification must have exactly one of 'method' or 'value' fields, not both",
        )
      const name = method.asString()
      if (!Object.hasOwn(methods, name)) throw new CommandError(6050202, 'Method must be either locf or linear')
      windows.startDocument(path).string(methods[name]!, `$${path}`).end()
    }
    if (value !== undefined)
      values.startDocument(path).startArray('$ifNull').string('0', `$${path}`).value('1', value).end().end()
  }
  return { windows: windows.finish(), values: values.finish() }
}

function partitionOf(given: ReadonlyMap<string, RawValue>): RawValue | undefined {
  const fields = given.get('partitionByFields')
  const partitionBy = given.get('partitionBy')
  if (partitionBy !== undefined && fields !== undefined)
    throw new CommandError(6050204, "Maximum one of 'partitionBy' and 'partitionByFields can be specified in '$fill'")
  if (fields === undefined) return partitionBy
  const writer = new DocumentWriter()
  for (const name of stringsOf('$fill.partitionByFields', fields)) writer.string(name, `$${name}`)
  return documentValue(writer.finish())
}

function compileFill(argument: RawValue, context: StageContext): CompiledStage {
  if (argument.type !== BsonType.object)
    throw new CommandError(
      'FailedToParse',
      `The $fill stage specification must be an object, found ${typeName(argument.type)}`,
    )
  const given = parseStruct('$fill', argument, {
    sortBy: { types: ['object'] },
    partitionByFields: { types: ['array'] },
    partitionBy: { types: ['object', 'string'] },
    output: { types: ['object'], required: true },
  })
  const output = given.get('output')!
  if (isEmptyDocument(output.bytes, output.start))
    throw new CommandError(6050203, "The output field in '$fill' must contain an object with at least one element")
  const { windows, values } = parseOutput(output)
  const stages: CompiledStage[] = []
  const partitionBy = partitionOf(given)
  if (!isEmptyDocument(windows))
    stages.push(windowStage(partitionBy, given.get('sortBy'), documentValue(windows), context))
  if (!isEmptyDocument(values)) {
    const projection = compileAddFields(values, context.evaluation)
    stages.push(mapStage('$addFields', (document) => projection.apply(document)))
  }
  return {
    name: '$fill',
    open: (next, rest) => stages.reduceRight((following, stage) => stage.open(following, rest), next),
  }
}

/** An output with a `method` needs a window; a `value` is filled in document by document. */
function interpolates(argument: RawValue): boolean {
  const output = findField(argument.bytes, 'output', argument.start)!
  for (const it = new FieldIterator(output.bytes, output.start); it.next();)
    if (findField(it.bytes, 'method', it.valueStart) !== undefined) return true
  return false
}

export const fillStage: StageOperator = {
  name: '$fill',
  manualPage: 'aggregation/fill',
  status: 'complete',
  sharded: 'merger',
  spills: interpolates,
  compile: compileFill,
}
