/** Server: the `serialize` of each document source. */
import { BsonType, DocumentWriter, findField, firstFieldName, type RawValue } from '@shardlab/bson'
import { shownProjection } from '@shardlab/query'

/** `last`: position of the last pipeline stage that the shown one contains. */
export interface ShownStage {
  readonly shown: Uint8Array
  readonly last: number
}

/** A `$lookup` and the `$unwind` of its field are one stage of the output. */
export function shownStages(stages: readonly Uint8Array[]): ShownStage[] {
  const output: ShownStage[] = []
  for (let i = 0; i < stages.length; i++) {
    const unwinding = unwoundBy(stages[i]!, stages[i + 1])
    if (unwinding !== null) output.push({ shown: shownLookup(findField(stages[i]!, '$lookup')!, unwinding), last: ++i })
    else output.push({ shown: shownStage(stages[i]!), last: i })
  }
  return output
}

/**
 * The argument of an `$unwind` of the field that the `$lookup` before it sets; null: it is another
 * stage.
 */
function unwoundBy(stage: Uint8Array, next: Uint8Array | undefined): RawValue | null {
  const lookup = findField(stage, '$lookup')
  const unwind = next === undefined ? undefined : findField(next, '$unwind')
  if (lookup === undefined || unwind === undefined) return null
  const as = findField(lookup.bytes, 'as', lookup.start)
  const path = unwind.type === BsonType.object ? findField(unwind.bytes, 'path', unwind.start) : unwind
  return as?.type === BsonType.string && path?.type === BsonType.string && path.asString() === `$${as.asString()}`
    ? unwind
    : null
}

/** Sorts show their key, counts are long integers, projections are booleans. */
function shownStage(stage: Uint8Array): Uint8Array {
  const name = firstFieldName(stage)!
  const argument = findField(stage, name)!
  switch (name) {
    case '$sort':
      return new DocumentWriter(stage.length + 32).startDocument('$sort').value('sortKey', argument).end().finish()
    case '$limit':
    case '$skip':
      return new DocumentWriter(32).int64(name, Math.trunc(argument.asNumber())).finish()
    case '$project':
      return new DocumentWriter(128).document('$project', shownProjection(argument)).finish()
    case '$lookup':
      return shownLookup(argument, null)
    default:
      return stage
  }
}

function shownLookup(argument: RawValue, unwinding: RawValue | null): Uint8Array {
  const writer = new DocumentWriter(argument.end - argument.start + 128).startDocument('$lookup')
  const field = (name: string): RawValue | undefined => findField(argument.bytes, name, argument.start)
  for (const name of ['from', 'as', 'localField', 'foreignField', 'let', 'pipeline']) {
    const value = field(name)
    if (value !== undefined) writer.value(name, value)
    else if (name === 'let' && field('pipeline') !== undefined) writer.startDocument('let').end()
  }
  if (unwinding !== null) {
    const option = (name: string): RawValue | undefined =>
      unwinding.type === BsonType.object ? findField(unwinding.bytes, name, unwinding.start) : undefined
    writer
      .startDocument('unwinding')
      .bool('preserveNullAndEmptyArrays', option('preserveNullAndEmptyArrays')?.isTruthy() === true)
    const index = option('includeArrayIndex')
    if (index !== undefined) writer.value('includeArrayIndex', index)
    writer.end()
  }
  return writer.end().finish()
}
