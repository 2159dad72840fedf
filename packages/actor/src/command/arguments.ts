/**
 * A command's arguments, checked as the server's generated parsers check them: unknown fields, wrong types and
 * missing fields are refused with its codes. Server: idl_parser.cpp, generic_argument_util.
 */
import { BsonType, CommandError, documentsOf, FieldIterator, findField, fromRawValue, typeName, type RawValue } from '@shardlab/bson'

/**
 * Type of an argument. `number`: any numeric type (a safe int); `bool`: bool or number; `strictBool`: nothing but a bool; `any`: not checked;
 * `string|object`: either of the two; a trailing `!` marks a required one.
 */
export type FieldType =
  | 'object'
  | 'array'
  | 'string'
  | 'number'
  | 'bool'
  | 'strictBool'
  | 'any'
  | 'binary'
  | 'timestamp'
  | 'int64'
  | 'string|object'
  | 'array|object'
export type FieldSpecs = Readonly<Record<string, FieldType | `${FieldType}!`>>

/** What happens to fields that the specifications do not name: the server's parsers are strict or take no notice. */
export type UnknownFields = 'refused' | 'ignored'

/** Arguments that every command takes. */
const genericArguments: FieldSpecs = {
  $db: 'string',
  lsid: 'object',
  txnNumber: 'int64',
  autocommit: 'bool',
  startTransaction: 'bool',
  $clusterTime: 'object',
  $readPreference: 'object',
  $queryOptions: 'object',
  readConcern: 'object',
  writeConcern: 'object',
  maxTimeMS: 'number',
  comment: 'any',
  apiVersion: 'string',
  apiStrict: 'bool',
  apiDeprecationErrors: 'bool',
  $audit: 'any',
  $client: 'any',
  $configServerState: 'any',
  $configTime: 'any',
  $topologyTime: 'any',
  $replData: 'any',
  $oplogQueryData: 'any',
  $impersonatedUsers: 'any',
  $tenant: 'any',
  help: 'any',
  allowImplicitCollectionCreation: 'bool',
  databaseVersion: 'object',
  shardVersion: 'any',
  maxTimeMSOpOnly: 'number',
  mayBypassWriteBlocking: 'bool',
  coordinator: 'bool',
  rawData: 'bool',
  serialization_context: 'any',
}

/** Specifications as they are looked up for every field of every command. Those that are used often should be one object. */
interface Parser {
  readonly types: ReadonlyMap<string, FieldType>
  readonly required: readonly string[]
}

const parsers = new WeakMap<FieldSpecs, Parser>()

function parserOf(specs: FieldSpecs): Parser {
  let parser = parsers.get(specs)
  if (parser === undefined) parsers.set(specs, (parser = createParser(specs)))
  return parser
}

function createParser(specs: FieldSpecs): Parser {
  const types = new Map<string, FieldType>()
  const required: string[] = []
  for (const name of Object.keys(specs)) {
    const spec = specs[name]!
    if (spec.endsWith('!')) required.push(name)
    types.set(name, spec.replace('!', '') as FieldType)
  }
  return { types, required }
}

const generic = parserOf(genericArguments)
const anything = parserOf({})

/** Does every command take an argument of this name? */
export function isGenericArgument(name: string): boolean {
  return Object.hasOwn(genericArguments, name)
}

/** The parsed arguments of one command. Values are views on its body. */
export class CommandArguments {
  readonly command: string
  /** The value of the command's own field: the collection's name, 1, … */
  readonly target: RawValue
  readonly #values: Map<string, RawValue>

  private constructor(command: string, target: RawValue, values: Map<string, RawValue>) {
    this.command = command
    this.target = target
    this.#values = values
  }

  /**
   * @param specs null: unknown fields are accepted and no type is checked but those of generic arguments
   * @param sequences names of arguments that came as document sequences: they count as given
   * @throws CommandError 40415 IDLUnknownField, 14 TypeMismatch, 40414 missing field, 40413 duplicate field
   */
  static parse(
    body: Uint8Array,
    specs: FieldSpecs | null,
    sequences: readonly string[] = [],
    unknown: UnknownFields = 'refused',
  ): CommandArguments {
    const it = new FieldIterator(body)
    if (!it.next()) throw new CommandError('FailedToParse', 'an empty document is no command')
    const command = it.name()
    const target = it.value()
    const values = new Map<string, RawValue>()
    const { types, required } = specs === null ? anything : parserOf(specs)
    while (it.next()) {
      const name = it.name()
      const spec = types.get(name) ?? generic.types.get(name)
      if (spec === undefined && specs !== null && unknown === 'refused') {
        throw new CommandError(40415, `BSON field '${command}.${name}' is an unknown field.`)
      }
      if (values.has(name)) throw new CommandError(40413, `BSON field '${command}.${name}' is a duplicate field`)
      const value = it.value()
      // Null stands for absent wherever the generated parsers see it.
      if (spec !== undefined && value.type !== BsonType.null) checkType(command, name, spec, value)
      if (value.type === BsonType.null && spec !== 'any') continue
      values.set(name, value)
    }
    for (const name of required) {
      if (!values.has(name) && !sequences.includes(name))
        throw new CommandError(40414, `BSON field '${command}.${name}' is missing but a required field`)
    }
    return new CommandArguments(command, target, values)
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  value(name: string): RawValue | undefined {
    return this.#values.get(name)
  }

  /** A document argument as a view. */
  document(name: string): Uint8Array | undefined {
    return this.#values.get(name)?.slice()
  }

  /** The documents of an array argument. @throws CommandError 14 when an element is no document. */
  documents(name: string): Uint8Array[] | undefined {
    const value = this.#values.get(name)
    if (value === undefined) return undefined
    for (const it = new FieldIterator(value.bytes, value.start); it.next();) {
      if (it.type !== BsonType.object) throw wrongType(this.command, `${name}.${it.name()}`, it.type, 'object')
    }
    return documentsOf(value)
  }

  string(name: string): string | undefined {
    return this.#values.get(name)?.asString()
  }

  /** A number of any type: a decimal as the nearest double, NaN as 0 (the server's safe integers). */
  number(name: string): number | undefined {
    const value = this.#values.get(name)
    if (value === undefined) return undefined
    return (value.type === BsonType.decimal128 ? Number(String(fromRawValue(value))) : value.asNumber()) || 0
  }

  bool(name: string): boolean | undefined {
    return this.#values.get(name)?.isTruthy()
  }

  /**
   * The command's own field where it is a string.
   * @throws CommandError 14 TypeMismatch
   */
  targetString(): string {
    if (this.target.type !== BsonType.string) throw wrongType(this.command, this.command, this.target.type, 'string')
    return this.target.asString()
  }

  /**
   * The command's own field as the name of a collection.
   * @throws CommandError 73 InvalidNamespace
   */
  collectionName(db: string): string {
    if (this.target.type !== BsonType.string) {
      throw new CommandError('InvalidNamespace', `collection name has invalid type ${typeName(this.target.type)}`)
    }
    const name = this.target.asString()
    checkCollectionName(db, name)
    return name
  }
}

/**
 * Checks a document inside a command, such as a statement of a write batch, in the same way.
 * @param name how errors call it: `update.updates`
 * @throws CommandError 40415 IDLUnknownField, 14 TypeMismatch, 40414 missing field
 */
export function checkFields(name: string, document: Uint8Array, specs: FieldSpecs, unknown: UnknownFields = 'refused'): void {
  const { types, required } = parserOf(specs)
  for (const it = new FieldIterator(document); it.next();) {
    const field = it.name()
    const spec = types.get(field)
    if (spec === undefined) {
      if (unknown === 'ignored') continue
      throw new CommandError(40415, `BSON field '${name}.${field}' is an unknown field.`)
    }
    if (it.type !== BsonType.null) checkType(name, field, spec, it.value())
  }
  for (const field of required) {
    if ((findField(document, field)?.type ?? BsonType.null) === BsonType.null)
      throw new CommandError(40414, `BSON field '${name}.${field}' is missing but a required field`)
  }
}

/** @throws CommandError 73 InvalidNamespace for names that no collection can have. */
export function checkCollectionName(db: string, name: string): void {
  if (name === '' || name.includes('\0') || name.startsWith('.')) {
    throw new CommandError('InvalidNamespace', `Invalid namespace specified '${db}.${name}'`)
  }
}

/** @throws CommandError 73 InvalidNamespace for names that no database can have. */
export function checkDatabaseName(db: string): void {
  if (db === '' || Buffer.byteLength(db) > 63 || /[\0/\\. "$]/.test(db)) {
    throw new CommandError('InvalidNamespace', `Invalid database name: '${db}'`)
  }
}

function checkType(command: string, name: string, wanted: FieldType, value: RawValue): void {
  switch (wanted) {
    case 'any':
      return
    case 'object':
      if (value.type === BsonType.object) return
      break
    case 'array':
      if (value.type === BsonType.array) return
      break
    case 'string':
      if (value.type === BsonType.string) return
      break
    case 'number':
      if (value.isNumber()) return
      throw wrongType(command, name, value.type, "'long, int, decimal, double'", true)
    case 'bool':
      if (value.type === BsonType.bool || value.isNumber()) return
      throw wrongType(command, name, value.type, "'bool, long, int, decimal, double'", true)
    case 'strictBool':
      if (value.type === BsonType.bool) return
      throw wrongType(command, name, value.type, 'bool')
    case 'binary':
      if (value.type === BsonType.binary) return
      throw wrongType(command, name, value.type, 'binData')
    case 'timestamp':
      if (value.type === BsonType.timestamp) return
      break
    case 'int64':
      if (value.type === BsonType.int64) return
      throw wrongType(command, name, value.type, 'long')
    case 'string|object':
      if (value.type === BsonType.string || value.type === BsonType.object) return
      throw wrongType(command, name, value.type, "'string, object'", true)
    case 'array|object':
      if (value.type === BsonType.array || value.type === BsonType.object) return
      throw wrongType(command, name, value.type, "'array, object'", true)
    default:
      throw new Error(`no such argument type: ${String(wanted)}`)
  }
  throw wrongType(command, name, value.type, wanted)
}

function wrongType(command: string, name: string, actual: number, wanted: string, list = false): CommandError {
  return new CommandError(
    'TypeMismatch',
    list
      ? `BSON field '${command}.${name}' is the wrong type '${typeName(actual)}', expected types '[${wanted.slice(1, -1)}]'`
      : `BSON field '${command}.${name}' is the wrong type '${typeName(actual)}', expected type '${wanted}'`,
  )
}
