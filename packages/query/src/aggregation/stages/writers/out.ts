/** Manual: aggregation/out; server: document_source_out.cpp. */
import { BsonType, CommandError, FieldIterator, typeName, type RawValue } from '@shardlab/bson'
import { newestLanguage, type Language } from '../../../language/language.js'
import { typeNameIn } from '../../../values/type-name.js'
import { passThroughStage, type StageOperator } from '../stage.js'
import { internalDatabases } from './internal-databases.js'

export interface OutTarget {
  readonly db: string
  readonly collection: string
}

/**
 * @param db of the pipeline
 * @throws CommandError 16990, 16994, 73 InvalidNamespace, 17385, 31321
 */
export function parseOut(argument: RawValue, db: string, language: Language = newestLanguage): OutTarget {
  if (argument.type !== BsonType.string && !language.has('form', 'outDatabase'))
    throw new CommandError(16990, `$out only supports a string argument, not ${typeNameIn(argument.type, language)}`)
  const target = argument.type === BsonType.string ? { db, collection: argument.asString() } : parseObject(argument)
  if (!isValidTarget(target))
    throw new CommandError('InvalidNamespace', `Invalid $out target namespace, ${target.db}.${target.collection}`)
  if (target.collection.startsWith('system.'))
    throw new CommandError(17385, `Can't $out to special collection: ${target.collection}`)
  if (internalDatabases.has(target.db)) throw new CommandError(31321, `Can't $out to internal database: ${target.db}`)
  return target
}

function parseObject(argument: RawValue): OutTarget {
  if (argument.type !== BsonType.object)
    throw new CommandError(
      16990,
      `$out only supports a string or object argument, but found ${typeName(argument.type)}`,
    )
  const fields = new Map<string, string>()
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const name = it.name()
    if (name === 'timeseries')
      throw new CommandError('InvalidOptions', '$out to time-series collections is not supported')
    if (name !== 'db' && name !== 'coll')
      throw new CommandError(40415, `BSON field '$out.${name}' is an unknown field.`)
    if (it.type !== BsonType.string)
      throw new CommandError(
        'TypeMismatch',
        `BSON field '$out.${name}' is the wrong type '${typeName(it.type)}', expected type 'string'`,
      )
    fields.set(name, it.value().asString())
  }
  for (const name of ['coll', 'db'])
    if (!fields.has(name)) throw new CommandError(40414, `BSON field '$out.${name}' is missing but a required field`)
  return { db: fields.get('db')!, collection: fields.get('coll')! }
}

export function isValidTarget({ db, collection }: OutTarget): boolean {
  return (
    db !== '' &&
    db.length < 64 &&
    !/[\0/\\. "$]/.test(db) &&
    collection !== '' &&
    !collection.startsWith('.') &&
    !collection.includes('\0')
  )
}

export const outStage: StageOperator = {
  name: '$out',
  manualPage: 'aggregation/out',
  status: 'partial',
  deviations: ['D202', 'D204', 'D905'],
  missing: 'time-series collections',
  sharded: 'merger',
  position: 'last',
  notIn: ['facet', 'lookup', 'unionWith'],
  writes: true,
  compile(argument, { db, evaluation }) {
    parseOut(argument, db, evaluation.language)
    return passThroughStage('$out')
  },
}
