/**
 * The fields of one document of a configuration. Versions differ in the errors, and in the moment
 * at which values out of range are refused.
 */
import { BsonType, CommandError, FieldIterator, typeName, type RawValue } from '@shardlab/bson'
import { formatField, parseStruct } from '@shardlab/query'

export interface Bounds {
  readonly min: number
  readonly max: number
  /** As the structure declares them: `> 0` instead of `>= 1`. */
  readonly exclusive?: boolean
}

export type FieldType = 'string' | 'bool' | 'number' | 'exact' | 'object' | 'array' | 'objectId' | 'any'

export interface FieldReader {
  has(name: string): boolean
  value(name: string): RawValue | undefined
  string(name: string): string
  bool(name: string, otherwise: boolean): boolean
  number(name: string, otherwise: number): number
  /** An integer, also as a double. */
  integer(name: string, otherwise?: number): number
  /** @param fault the text until 4.4 */
  checkBounds(name: string, value: number, bounds: Bounds, fault: string): void
}

/** Faults that until 4.4 are found only after the whole document is parsed. */
export interface LateFaults {
  first: string | null
}

const mismatch = (text: string): CommandError => new CommandError('TypeMismatch', text)

/** Server: bson_check.cpp, bson_extract.cpp. */
export class PlainFields implements FieldReader {
  readonly #values = new Map<string, RawValue>()
  readonly #types: Readonly<Record<string, FieldType>>
  readonly #late: LateFaults

  /** @param what in the error for an unknown field; null: unknown fields are ignored */
  constructor(what: string | null, document: RawValue, types: Readonly<Record<string, FieldType>>, late: LateFaults) {
    this.#types = types
    this.#late = late
    for (const it = new FieldIterator(document.bytes, document.start); it.next();) {
      const name = it.name()
      if (what !== null && !Object.hasOwn(types, name)) {
        throw new CommandError('BadValue', `Unexpected field ${name} in ${what}`)
      }
      if (!this.#values.has(name)) this.#values.set(name, it.value())
      else if (what !== null) throw new CommandError(51_000, `Field ${name} appears multiple times in ${what}`)
    }
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  value(name: string): RawValue | undefined {
    const value = this.#values.get(name)
    const wanted = this.#types[name]
    if (value === undefined) return undefined
    const expected = wanted === 'object' ? BsonType.object : wanted === 'objectId' ? BsonType.objectId : BsonType.array
    if ((wanted === 'object' || wanted === 'objectId' || wanted === 'array') && value.type !== expected) {
      throw mismatch(`"${name}" had the wrong type. Expected ${typeName(expected)}, found ${typeName(value.type)}`)
    }
    return value
  }

  #required(name: string): RawValue {
    const value = this.#values.get(name)
    if (value === undefined) throw new CommandError('NoSuchKey', `Missing expected field "${name}"`)
    return value
  }

  string(name: string): string {
    const value = this.#required(name)
    if (value.type === BsonType.string) return value.asString()
    throw mismatch(`"${name}" had the wrong type. Expected string, found ${typeName(value.type)}`)
  }

  bool(name: string, otherwise: boolean): boolean {
    const value = this.#values.get(name)
    if (value === undefined) return otherwise
    if (value.type === BsonType.bool || value.isNumber()) return value.isTruthy()
    throw mismatch(`Expected boolean or number type for field "${name}", found ${typeName(value.type)}`)
  }

  number(name: string, otherwise: number): number {
    const value = this.#values.get(name)
    if (value === undefined) return otherwise
    if (value.isNumber()) return value.asNumber()
    throw mismatch(`${name} field value has non-numeric type ${typeName(value.type)}`)
  }

  integer(name: string, otherwise?: number): number {
    const value = otherwise === undefined ? this.#required(name) : this.#values.get(name)
    if (value === undefined) return otherwise!
    if (!value.isNumber()) {
      throw mismatch(`Expected field "${name}" to have numeric type, but found ${typeName(value.type)}`)
    }
    return exactInteger(name, value, 'BadValue')
  }

  checkBounds(_name: string, value: number, { min, max }: Bounds, fault: string): void {
    if ((value < min || value > max) && this.#late.first === null) this.#late.first = fault
  }
}

const structTypes: Readonly<Record<FieldType, readonly string[] | undefined>> = {
  string: ['string'],
  bool: ['bool', 'long', 'int', 'decimal', 'double'],
  number: ['long', 'int', 'decimal', 'double'],
  exact: undefined,
  object: ['object'],
  array: ['array'],
  objectId: ['objectId'],
  any: undefined,
}

/** Server: the parsers that are generated from repl_set_config.idl and member_config.idl. */
export class StructureFields implements FieldReader {
  readonly #values: ReadonlyMap<string, RawValue>

  /** @param strict false: unknown fields are ignored */
  constructor(
    name: string,
    document: RawValue,
    types: Readonly<Record<string, FieldType>>,
    required: readonly string[],
    strict = true,
  ) {
    const fields: Record<string, Parameters<typeof parseStruct>[2][string]> = {}
    for (const [field, type] of Object.entries(types)) {
      const allowed = structTypes[type]
      fields[field] = { required: required.includes(field), ...(allowed === undefined ? {} : { types: allowed }) }
    }
    if (!strict) {
      for (const it = new FieldIterator(document.bytes, document.start); it.next();) fields[it.name()] ??= {}
    }
    this.#values = parseStruct(name, document, fields)
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  value(name: string): RawValue | undefined {
    return this.#values.get(name)
  }

  string(name: string): string {
    return this.#values.get(name)!.asString()
  }

  bool(name: string, otherwise: boolean): boolean {
    return this.#values.get(name)?.isTruthy() ?? otherwise
  }

  number(name: string, otherwise: number): number {
    return this.#values.get(name)?.asNumber() ?? otherwise
  }

  integer(name: string, otherwise?: number): number {
    const value = this.#values.get(name)
    if (value === undefined) return otherwise!
    if (value.isNumber()) return exactInteger(name, value, 4_708_900)
    throw mismatch(`Expected a number, got value of type ${typeName(value.type)} for field ${name}`)
  }

  checkBounds(name: string, value: number, { min, max, exclusive = false }: Bounds): void {
    const [least, most] = exclusive ? [`> ${min - 1}`, `< ${max + 1}`] : [`>= ${min}`, `<= ${max}`]
    if (value < min) throw outOfBounds(name, value, least)
    if (value > max) throw outOfBounds(name, value, most)
  }
}

const outOfBounds = (name: string, value: number, bound: string): CommandError =>
  new CommandError(51_024, `BSON field '${name}' value must be ${bound}, actual value '${value}'`)

function exactInteger(name: string, value: RawValue, code: 'BadValue' | number): number {
  const number = value.asNumber()
  if (Number.isInteger(number)) return number
  throw new CommandError(
    code,
    `Expected field "${name}" to have a value exactly representable as a 64-bit integer, but found ${formatField(name, value)}`,
  )
}
