/**
 * Parameters of the whole cluster, stored in config.clusterParameters. Manual:
 * reference/cluster-parameters. Server: set_cluster_parameter_invocation.cpp and the IDL files.
 */
import type { TimestampPair } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  DocumentWriter,
  FieldIterator,
  boolValue,
  doubleValue,
  elementsOf,
  int32Value,
  int64Value,
  stringValue,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { parseStruct } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'

interface ClusterField {
  readonly name: string
  readonly types: readonly string[]
  readonly initial: RawValue
  /** @throws CommandError 2 BadValue, 115 CommandNotSupported */
  readonly check?: (value: RawValue) => void
}

export interface ClusterParameter {
  readonly name: string
  /** Name of its type in the server's messages. */
  readonly type: string
  /** The document of this name in which the fields are; absent: they are at the top. */
  readonly inside?: string
  readonly fields: readonly ClusterField[]
  readonly behaviour: 'clusterParameters' | 'manyClusterParameters'
  /** What it changes in an emulated cluster, for the reference page. */
  readonly effect: string
}

const whole: readonly string[] = ['int', 'long', 'double', 'decimal']

/** A parameter whose effect is not built accepts only its initial value. */
function refuse(isRefused: boolean, what: string): void {
  if (isRefused) throw new CommandError('CommandNotSupported', `${what} is not supported`)
}

export const clusterParameters: readonly ClusterParameter[] = [
  {
    name: 'changeStreamOptions',
    type: 'ChangeStreamOptions',
    inside: 'preAndPostImages',
    behaviour: 'clusterParameters',
    effect: 'how long change streams have documents before their change',
    fields: [
      { name: 'expireAfterSeconds', types: ['string', ...whole], initial: stringValue('off'), check: checkExpiry },
    ],
  },
  {
    name: 'configServerReadPreferenceForCatalogQueries',
    type: 'ConfigServerReadPreferenceForCatalogQueriesParam',
    behaviour: 'manyClusterParameters',
    effect: 'none: the config server has one member',
    fields: [{ name: 'mustAlwaysUseNearest', types: ['bool'], initial: boolValue(false) }],
  },
  {
    name: 'defaultMaxTimeMS',
    type: 'DefaultMaxTimeMSParam',
    behaviour: 'manyClusterParameters',
    effect: 'not built: a value other than 0 is refused',
    fields: [
      {
        name: 'readOperations',
        types: whole,
        initial: int64Value(0n),
        check: (value) => refuse(value.asNumber() !== 0, 'a defaultMaxTimeMS of read operations'),
      },
    ],
  },
  {
    name: 'fleCompactionOptions',
    type: 'FLECompactionOptions',
    behaviour: 'manyClusterParameters',
    effect: 'none: there are no encrypted collections',
    fields: [
      { name: 'maxCompactionSize', types: whole, initial: int32Value(268_435_456) },
      { name: 'maxAnchorCompactionSize', types: whole, initial: int32Value(268_435_456) },
      { name: 'maxESCEntriesPerCompactionDelete', types: whole, initial: int32Value(350_000) },
    ],
  },
  {
    name: 'internalQueryCutoffForSampleFromRandomCursor',
    type: 'InternalQueryCutoffForSampleFromRandomCursor',
    behaviour: 'manyClusterParameters',
    effect: 'none: `$sample` has one way to choose documents',
    fields: [{ name: 'sampleCutoff', types: whole, initial: doubleValue(0.05) }],
  },
  {
    name: 'internalSearchOptions',
    type: 'InternalSearchOptions',
    behaviour: 'manyClusterParameters',
    effect: 'none: there are no search indexes',
    fields: [
      { name: 'oversubscriptionFactor', types: whole, initial: doubleValue(1.064) },
      { name: 'batchSizeGrowthFactor', types: whole, initial: doubleValue(1.5) },
    ],
  },
  {
    name: 'pauseMigrationsDuringMultiUpdates',
    type: 'MigrationBlockingOperationEnabled',
    behaviour: 'manyClusterParameters',
    effect: 'not built: true is refused',
    fields: [
      {
        name: 'enabled',
        types: ['bool'],
        initial: boolValue(false),
        check: (value) => refuse(value.isTruthy(), 'pauseMigrationsDuringMultiUpdates'),
      },
    ],
  },
]

function checkExpiry(value: RawValue): void {
  if (value.type === BsonType.string) {
    if (value.asString() !== 'off')
      throw new CommandError('BadValue', "Non-numeric value of 'expireAfterSeconds' should be 'off'")
  } else if (value.asNumber() <= 0)
    throw new CommandError('BadValue', "Numeric value of 'expireAfterSeconds' should be positive")
}

function parametersOf(behaviours: Behaviours): readonly ClusterParameter[] {
  return clusterParameters.filter(({ behaviour }) => behaviours[behaviour])
}

/** @throws CommandError 4 NoSuchKey */
function parameterNamed(behaviours: Behaviours, name: string): ClusterParameter {
  const parameter = parametersOf(behaviours).find((each) => each.name === name)
  if (parameter === undefined) throw new CommandError('NoSuchKey', `Unknown server parameter: ${name}`)
  return parameter
}

/**
 * The document of config.clusterParameters that a client's `{ name: { … } }` sets.
 * @throws CommandError 4 NoSuchKey, 2 BadValue, 40415 for an unknown field, 14 TypeMismatch, 115
 *   CommandNotSupported
 */
export function parseClusterParameter(behaviours: Behaviours, given: Uint8Array, time: TimestampPair): Uint8Array {
  const it = new FieldIterator(given)
  const isGiven = it.next()
  const parameter = parameterNamed(behaviours, isGiven ? it.name() : '')
  const value = it.value()
  if (value.type !== BsonType.object) throw new CommandError('BadValue', 'Cluster parameter value must be an object')
  return documentOf(parameter, valuesIn(parameter, value), time)
}

function valuesIn({ type, inside, fields }: ClusterParameter, value: RawValue): ReadonlyMap<string, RawValue> {
  const structs = Object.fromEntries(fields.map(({ name, types }) => [name, { types }]))
  let given: ReadonlyMap<string, RawValue>
  if (inside === undefined) given = parseStruct(type, value, structs)
  else {
    const document = parseStruct(type, value, { [inside]: { types: ['object'], required: true } }).get(inside)!
    given = parseStruct(`${type}.${inside}`, document, structs)
  }
  for (const { name, check } of fields) if (given.has(name)) check?.(given.get(name)!)
  return given
}

function documentOf(
  { name, inside, fields }: ClusterParameter,
  values: ReadonlyMap<string, RawValue>,
  [seconds, increment]: TimestampPair,
): Uint8Array {
  const writer = new DocumentWriter(256).string('_id', name).timestamp('clusterParameterTime', seconds, increment)
  if (inside !== undefined) writer.startDocument(inside)
  for (const field of fields) writer.value(field.name, coerced(values.get(field.name) ?? field.initial, field.initial))
  if (inside !== undefined) writer.end()
  return writer.finish()
}

/** Numbers have the type of the parameter; one that is a word by default is a long. */
function coerced(value: RawValue, { type }: RawValue): RawValue {
  if (!value.isNumber()) return value
  if (type === BsonType.double) return doubleValue(value.asNumber())
  const number = Math.trunc(value.asNumber())
  return type === BsonType.int32 ? int32Value(number) : int64Value(BigInt(number))
}

/**
 * Appends `clusterParameters` of getClusterParameter.
 * @param asked a name, `*`, or an array of names
 * @param stored the document of a name in config.clusterParameters; undefined: it was never set
 * @throws CommandError 4 NoSuchKey, 2 BadValue, 14 TypeMismatch
 */
export function writeClusterParameters(
  writer: DocumentWriter,
  behaviours: Behaviours,
  asked: RawValue,
  stored: (name: string) => Uint8Array | undefined,
): DocumentWriter {
  const documents = parametersAsked(behaviours, asked).map(
    (parameter) => stored(parameter.name) ?? documentOf(parameter, new Map(), [0, 0]),
  )
  return writer.documents('clusterParameters', documents)
}

function parametersAsked(behaviours: Behaviours, asked: RawValue): readonly ClusterParameter[] {
  if (asked.type === BsonType.string) {
    const name = asked.asString()
    return name === '*' ? parametersOf(behaviours) : [parameterNamed(behaviours, name)]
  }
  if (asked.type !== BsonType.array)
    throw new CommandError(
      'TypeMismatch',
      `BSON field 'getClusterParameter.getClusterParameter' is the wrong type '${typeName(asked.type)}', expected types '[string, array]'`,
    )
  const names = elementsOf(asked)
  if (names.length === 0)
    throw new CommandError('BadValue', 'Must supply at least one cluster server parameter name to getClusterParameter')
  return names.map((name, i) => {
    if (name.type !== BsonType.string)
      throw new CommandError(
        'TypeMismatch',
        `BSON field 'getClusterParameter.getClusterParameter.${i}' is the wrong type '${typeName(name.type)}', expected type 'string'`,
      )
    return parameterNamed(behaviours, name.asString())
  })
}
