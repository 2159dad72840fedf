import {
  BsonType,
  CommandError,
  DocumentWriter,
  documentValue,
  FieldIterator,
  stringValue,
  type RawValue,
} from '@shardlab/bson'
import { arrayValue } from '../../../values/build.js'
import { formatValue } from '../../../values/format.js'
import { compileOnCurrent } from '../../expressions/compile.js'
import { mapStage, type CompiledStage, type StageContext, type StageOperator } from '../stage.js'

const decisions = ['DESCEND', 'PRUNE', 'KEEP'] as const

type Decide = (current: RawValue) => RawValue | undefined

function redactDocument(value: RawValue, decide: Decide): RawValue | null {
  const decision = decide(value)
  switch (decision?.type === BsonType.string ? decision.asString() : '') {
    case 'keep':
      return value
    case 'prune':
      return null
    case 'descend': {
      const writer = new DocumentWriter()
      for (const it = new FieldIterator(value.bytes, value.start); it.next();) {
        const kept = redactValue(it.value(), decide)
        if (kept !== null) writer.value(it.name(), kept)
      }
      return documentValue(writer.finish())
    }
    default:
      throw new CommandError(
        17053,
        `$redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, and $$PRUNE, but returned ${formatValue(decision)}`,
      )
  }
}

function redactValue(value: RawValue, decide: Decide): RawValue | null {
  if (value.type === BsonType.object) return redactDocument(value, decide)
  if (value.type !== BsonType.array) return value
  const kept: RawValue[] = []
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) {
    const element = redactValue(it.value(), decide)
    if (element !== null) kept.push(element)
  }
  return arrayValue(kept)
}

function compileRedact(argument: RawValue, { evaluation }: StageContext): CompiledStage {
  const variables = new Map(evaluation.variables)
  for (const decision of decisions) variables.set(decision, stringValue(decision.toLowerCase()))
  const expression = compileOnCurrent(argument, { ...evaluation, variables })
  return mapStage('$redact', (document) => {
    return redactDocument(documentValue(document), (current) => expression(document, current))?.slice() ?? null
  })
}

export const redactStage: StageOperator = {
  name: '$redact',
  manualPage: 'aggregation/redact',
  status: 'complete',
  sharded: 'shards',
  compile: compileRedact,
}
