/**
 * Checks arguments as the server's generated parsers do, with their error codes. Server:
 * idl_parser.cpp, generic_argument_util.
 */
import {
  BsonType,
  CommandError,
  documentsOf,
  FieldIterator,
  findField,
  decimalText,
  RawValue,
  typeName,
  valueEnd,
} from '@shardlab/bson'
import { checkType, wrongType, type FieldSpecs, type FieldType, type HandwrittenParser } from './argument-types.js'
import {
  CommandShape,
  CommandShapes,
  noShifts,
  variesAsTarget,
  varyingArguments,
  type ShapedArgument,
  type Shifts,
} from './command-shape.js'
import { checkCollectionName, checkNamespaceParts } from './names.js'

export type UnknownFieldError = (command: string, field: string, body: Uint8Array) => CommandError
/** Refused with an error of its own, with that of the generated parsers, or ignored. */
export type UnknownFields = 'refused' | 'ignored' | UnknownFieldError

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

interface Parser {
  readonly types: ReadonlyMap<string, FieldType>
  readonly required: readonly string[]
  readonly shapes: Readonly<Record<'refused' | 'ignored', CommandShapes>>
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
  return { types, required, shapes: { refused: new CommandShapes(), ignored: new CommandShapes() } }
}

const generic = parserOf(genericArguments)
const anything = parserOf({})

export function isGenericArgument(name: string): boolean {
  return Object.hasOwn(genericArguments, name)
}

/** The arguments that may be document sequences. */
const sequenceArguments: ReadonlySet<string> = new Set(['deletes', 'documents', 'nsInfo', 'ops', 'updates'])

/**
 * Only commands with such arguments look at the sequences of a message.
 * @throws CommandError 40415 IDLUnknownField
 */
function checkSequences(command: string, types: Parser['types'], sequences: readonly string[]): void {
  if (sequences.length === 0) return
  const names = [...sequenceArguments].filter((name) => types.has(name))
  const unknown = names.length === 0 ? undefined : sequences.find((name) => !names.includes(name))
  if (unknown !== undefined) throw unknownField(command, unknown)
}

function unknownField(owner: string, field: string): CommandError {
  return new CommandError(40415, `BSON field '${owner}.${field}' is an unknown field.`)
}

/** Values are views on the command's body. */
export class CommandArguments {
  readonly command: string
  readonly #body: Uint8Array
  readonly #shape: CommandShape
  readonly #shifts: Shifts
  /** Only values that are part of the shape may be read. */
  readonly #fixedOnly: boolean

  private constructor(body: Uint8Array, shape: CommandShape, shifts: Shifts, fixedOnly = false) {
    this.command = shape.command
    this.#body = body
    this.#shape = shape
    this.#shifts = shifts
    this.#fixedOnly = fixedOnly
  }

  /**
   * @param specs null: unknown fields are accepted, and only the types of generic arguments are
   *   checked
   * @param sequences arguments that the command has as document sequences
   * @throws CommandError 40415 IDLUnknownField, 14 TypeMismatch, 40414 missing field, 40413
   *   duplicate field
   */
  static parse(
    body: Uint8Array,
    specs: FieldSpecs | null,
    sequences: readonly string[] = [],
    unknown: UnknownFields = 'refused',
    handwritten?: HandwrittenParser,
  ): CommandArguments {
    const parser = specs === null ? anything : parserOf(specs)
    // A command with a reusable shape has no field that is refused.
    const shapes = specs === null ? null : parser.shapes[unknown === 'ignored' ? unknown : 'refused']
    const known = shapes?.find(body, sequences) ?? null
    if (known !== null) return new CommandArguments(body, known, shapes!.shifts)
    const it = new FieldIterator(body)
    if (!it.next()) throw new CommandError('FailedToParse', 'an empty document is no command')
    const command = it.name()
    const target = {
      name: command,
      type: it.type,
      start: it.valueStart,
      end: it.valueEnd,
      varies: variesAsTarget(it.type),
    }
    handwritten?.target?.(it.value(), body)
    const values = new Map<string, ShapedArgument>()
    let absent: string[] | null = null
    const { types, required } = parser
    while (it.next()) {
      const name = it.name()
      const declared = types.get(name)
      const spec = declared ?? generic.types.get(name)
      if ((spec === undefined || spec === 'absent') && specs !== null) {
        if (unknown === 'ignored') continue
        throw unknown === 'refused' ? unknownField(command, name) : unknown(command, name, body)
      }
      // A null before it counts, too: the check of privileges reads the body itself.
      if (values.has(name) || absent?.includes(name) === true)
        throw new CommandError(40413, `BSON field '${command}.${name}' is a duplicate field`)
      const value = it.value()
      if (declared !== undefined && handwritten !== undefined) handwritten.field(command, name, declared, value, body)
      // The generated parsers treat null and undefined as absent.
      else if (spec !== undefined && !value.isNullish()) checkType(command, name, spec, value)
      if (value.isNullish() && spec !== 'any') {
        ;(absent ??= []).push(name)
        continue
      }
      values.set(name, {
        name,
        type: value.type,
        start: value.start,
        end: value.end,
        varies: varyingArguments.has(name),
      })
    }
    checkSequences(command, types, sequences)
    for (const name of required) {
      if (!values.has(name) && !sequences.includes(name))
        throw (
          handwritten?.missing?.(name, body) ??
          new CommandError(40414, `BSON field '${command}.${name}' is missing but a required field`)
        )
    }
    handwritten?.whole?.(body)
    const shape = new CommandShape(target, [...values.values()])
    shapes?.add(shape, body, sequences)
    return new CommandArguments(body, shape, noShifts)
  }

  /**
   * Memoizes a result for all commands that differ in the values of {@link varyingArguments} only.
   * @param key identifies the result
   * @param scope an object for everything else that the result depends on; another object
   *   recomputes it
   * @throws errors of `work`, and Error when `work` reads a value that varies
   */
  fixed<T>(key: object, scope: object, work: (args: CommandArguments) => T): T {
    const shape = this.#shape
    const bytes = shape.fixedBytes
    if (bytes === null) return work(this)
    // The result must have views on the shape's own bytes only: a view on a command would keep all
    // of it in memory.
    return shape.memo(key, scope, () => work(new CommandArguments(bytes, shape, shape.fixedShifts, true)))
  }

  /** The value of the command's own field: a collection's name, 1, … */
  get target(): RawValue {
    const { name, type, start, end, varies } = this.#shape.target
    if (this.#fixedOnly && varies) throw new Error(`${name} differs from command to command`)
    const shift = this.#shifts[0] ?? 0
    return new RawValue(type, this.#body, start + shift, varies ? valueEnd(type, this.#body, start) : end + shift)
  }

  has(name: string): boolean {
    return this.#shape.indexOf(name) !== undefined
  }

  value(name: string): RawValue | undefined {
    const shape = this.#shape
    const index = shape.indexOf(name)
    if (index === undefined) return undefined
    const { type, start, end, varies } = shape.args[index]!
    if (this.#fixedOnly && varies) throw new Error(`${name} differs from command to command`)
    const shifts = this.#shifts
    return new RawValue(type, this.#body, start + shape.shiftOf(index, shifts), end + shape.endShiftOf(index, shifts))
  }

  document(name: string): Uint8Array | undefined {
    return this.value(name)?.slice()
  }

  /** @throws CommandError 14 TypeMismatch when a stage is not a document */
  pipeline(): Uint8Array[] | undefined {
    const value = this.value('pipeline')
    if (value === undefined) return undefined
    checkPipelineElements(value)
    return documentsOf(value)
  }

  /** @throws CommandError 14 TypeMismatch when an element is not a document */
  documents(name: string): Uint8Array[] | undefined {
    const value = this.value(name)
    if (value === undefined) return undefined
    for (const it = new FieldIterator(value.bytes, value.start); it.next();) {
      if (it.type !== BsonType.object) throw wrongType(this.command, `${name}.${it.name()}`, it.type, 'object')
    }
    return documentsOf(value)
  }

  string(name: string): string | undefined {
    return this.value(name)?.asString()
  }

  /**
   * A number of any type: a decimal becomes the nearest double, NaN 0 (the server's safe integers).
   */
  number(name: string): number | undefined {
    const value = this.value(name)
    if (value === undefined) return undefined
    return (value.type === BsonType.decimal128 ? Number(decimalText(value)) : value.asNumber()) || 0
  }

  bool(name: string): boolean | undefined {
    return this.value(name)?.isTruthy()
  }

  /** @throws CommandError 14 TypeMismatch when the command's own field is not a string */
  targetString(): string {
    if (this.target.type !== BsonType.string) throw wrongType(this.command, this.command, this.target.type, 'string')
    return this.target.asString()
  }

  /** The command's own field. @throws CommandError 73 InvalidNamespace */
  collectionName(db: string): string {
    if (this.target.type !== BsonType.string) {
      throw new CommandError('InvalidNamespace', `collection name has invalid type ${typeName(this.target.type)}`)
    }
    const name = this.target.asName()
    checkNamespaceParts(db, name)
    checkCollectionName(db, name)
    return name
  }

  /** `db.collection`, unchecked; null: the command's own field is not a string. */
  namedCollection(db: string): string | null {
    return this.#shape.target.type === BsonType.string ? this.#shape.namespace(db, () => this.target.asName()) : null
  }

  /** `db.collection`, checked. @throws CommandError 73 InvalidNamespace */
  namespace(db: string): string {
    const shape = this.#shape
    if (shape.checkedIn !== db || shape.target.varies) {
      this.collectionName(db)
      shape.checkedIn = db
    }
    return shape.namespace(db, () => this.target.asName())
  }
}

/**
 * Server: parsePipelineFromBSON.
 * @throws CommandError 14 TypeMismatch when a stage is not a document
 */
export function checkPipelineElements(pipeline: RawValue): void {
  for (const it = new FieldIterator(pipeline.bytes, pipeline.start); it.next();) {
    if (it.type !== BsonType.object)
      throw new CommandError('TypeMismatch', "Each element of the 'pipeline' array must be an object")
  }
}

/**
 * Checks a document inside a command, such as a statement of a write batch.
 * @param name for errors, such as `update.updates`
 * @throws CommandError 40415 IDLUnknownField, 14 TypeMismatch, 40414 missing field, 40413 duplicate
 *   field
 */
export function checkFields(
  name: string,
  document: Uint8Array,
  specs: FieldSpecs,
  unknown: UnknownFields = 'refused',
): void {
  const { types, required } = parserOf(specs)
  const given: string[] = []
  for (const it = new FieldIterator(document); it.next();) {
    const field = it.name()
    const spec = types.get(field)
    if (spec === undefined) {
      if (unknown === 'ignored') continue
      throw unknown === 'refused' ? unknownField(name, field) : unknown(name, field, document)
    }
    // Only the generated parsers look for duplicates.
    if (unknown === 'refused' && given.includes(field))
      throw new CommandError(40413, `BSON field '${name}.${field}' is a duplicate field`)
    given.push(field)
    if (it.type !== BsonType.null && it.type !== BsonType.undefined) checkType(name, field, spec, it.value())
  }
  for (const field of required) {
    if (findField(document, field)?.isNullish() ?? true)
      throw new CommandError(40414, `BSON field '${name}.${field}' is missing but a required field`)
  }
}
