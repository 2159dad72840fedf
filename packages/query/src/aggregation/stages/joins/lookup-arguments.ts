/** Server: `DocumentSourceLookUp::createFromBson`; manual: aggregation/lookup. */
import {
  BsonType,
  CommandError,
  documentsOf,
  elementsOf,
  FieldIterator,
  firstFieldName,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { formatField } from '../../../values/format.js'
import type { StageContext } from '../stage.js'

export interface LookupArguments {
  /** Null: the database of the pipeline. */
  readonly db: string | null
  /** Null: the pipeline begins with $documents. */
  readonly from: string | null
  readonly as: string
  /** Both null: only `pipeline` selects the documents. */
  readonly localField: string | null
  readonly foreignField: string | null
  readonly variables: readonly { readonly name: string; readonly expression: RawValue }[]
  readonly pipeline: readonly Uint8Array[] | null
}

const failed = (message: string) => new CommandError('FailedToParse', message)

/** @throws CommandError 9 FailedToParse, 14 TypeMismatch */
export function parseLookup(argument: RawValue): LookupArguments {
  if (argument.type !== BsonType.object)
    throw failed(`the $lookup stage specification must be an object, but found ${typeName(argument.type)}`)
  let from: { db: string | null; collection: string } | null = null
  let pipeline: readonly Uint8Array[] | null = null
  const variables: { name: string; expression: RawValue }[] = []
  const strings = { as: '', localField: '', foreignField: '' }
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const name = it.name()
    const value = it.value()
    if (name === 'pipeline') pipeline = pipelineArgument(value)
    else if (name === 'from') from = parseFrom(value)
    else if (name === 'let') {
      if (value.type !== BsonType.object)
        throw failed(
          `$lookup argument '${formatField(name, value)}' must be an object, is type ${typeName(value.type)}`,
        )
      for (const each = new FieldIterator(value.bytes, value.start); each.next();)
        variables.push({ name: each.name(), expression: each.value() })
    } else if (value.type !== BsonType.string)
      throw failed(
        `$lookup argument '${name}' must be a string, found ${formatField(name, value)}: ${typeName(value.type)}`,
      )
    else if (Object.hasOwn(strings, name)) strings[name as keyof typeof strings] = value.asString()
    else throw failed(`unknown argument to $lookup: ${name}`)
  }
  if (from === null) {
    if (pipeline === null) throw failed("must specify 'pipeline' when 'from' is empty")
    if (pipeline.length === 0 || firstFieldName(pipeline[0]!) !== '$documents')
      throw failed('$lookup stage without explicit collection must have a pipeline with $documents as first stage')
  }
  if (strings.as === '') throw failed("must specify 'as' field for a $lookup")
  const hasLocal = strings.localField !== ''
  const hasForeign = strings.foreignField !== ''
  if (pipeline === null && !(hasLocal && hasForeign))
    throw failed("$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified")
  if (pipeline === null && variables.length > 0)
    throw failed("$lookup with a 'let' argument must also specify 'pipeline'")
  if (hasLocal !== hasForeign)
    throw failed("$lookup requires both or neither of 'localField' and 'foreignField' to be specified")
  return {
    db: from?.db ?? null,
    from: from?.collection ?? null,
    as: strings.as,
    localField: hasLocal ? strings.localField : null,
    foreignField: hasForeign ? strings.foreignField : null,
    variables,
    pipeline,
  }
}

/** `{ db, coll }` is allowed for cached chunks and the oplog only. */
function parseFrom(value: RawValue): { db: string | null; collection: string } {
  if (value.type === BsonType.string) return { db: null, collection: value.asString() }
  if (value.type !== BsonType.object)
    throw failed(`$lookup 'from' field must be a string, but found ${typeName(value.type)}`)
  let db = ''
  let collection = ''
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) {
    const name = it.name()
    if (name !== 'db' && name !== 'coll')
      throw new CommandError(40415, `BSON field 'from.${name}' is an unknown field.`)
    if (it.type !== BsonType.string)
      throw new CommandError(
        'TypeMismatch',
        `BSON field 'from.${name}' is the wrong type '${typeName(it.type)}', expected type 'string'`,
      )
    if (name === 'db') db = it.value().asString()
    else collection = it.value().asString()
  }
  if (!(db === 'config' && collection.startsWith('cache.chunks.')) && !(db === 'local' && collection === 'oplog.rs'))
    throw failed(
      `$lookup with syntax {from: {db:<>, coll:<>},..} is not supported for db: ${db} and coll: ${collection}`,
    )
  return { db, collection }
}

/** @throws CommandError 14 TypeMismatch unless it is an array of stages */
export function pipelineArgument(value: RawValue): Uint8Array[] {
  if (value.type !== BsonType.array)
    throw new CommandError('TypeMismatch', "'pipeline' option must be specified as an array")
  if (elementsOf(value).some((element) => element.type !== BsonType.object))
    throw new CommandError('TypeMismatch', "Each element of the 'pipeline' array must be an object")
  return documentsOf(value)
}

/** @throws CommandError 73 InvalidNamespace */
export function checkForeignName(stage: string, collection: string | null, { db }: StageContext): void {
  if (collection !== null && (collection === '' || collection.startsWith('.') || collection.includes('\0')))
    throw new CommandError('InvalidNamespace', `invalid ${stage} namespace: ${db}.${collection}`)
}
