/** Stages as explain spells them. Server: the `serialize` of each document source. */
import { BsonType, DocumentWriter, findField, firstFieldName, type RawValue } from '@shardlab/bson'
import { shownProjection } from '@shardlab/query'

/** A stage of the output: what it looks like, and the position of the last stage that is in it. */
export interface ShownStage {
  readonly shown: Uint8Array
  readonly last: number
}

/** Stages as explain spells them; a join and the `$unwind` of what it finds are one. */
export function shownStages(stages: readonly Uint8Array[]): ShownStage[] {
  const output: ShownStage[] = []
  for (let i = 0; i < stages.length; i++) {
    const unwinding = unwoundBy(stages[i]!, stages[i + 1])
    if (unwinding !== null) output.push({ shown: shownLookup(findField(stages[i]!, '$lookup')!, unwinding), last: ++i })
    else output.push({ shown: shownStage(stages[i]!), last: i })
  }
  return output
}

/** The argument of an `$unwind` that takes apart the array of the `$lookup` before it. */
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

/** A sort by its key, counts as long integers, projections by truth values. */
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
