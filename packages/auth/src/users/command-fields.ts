/**
 * Top-level fields of commands on users and roles. The row of a command refuses unknown and missing
 * ones; types are checked here too, so that no body reaches a document unchecked.
 */
import { BsonType, CommandError, elementsOf, findField, typeName, type RawValue } from '@shardlab/bson'
import { distinctRoles, readRoleName, type RoleName } from '../names.js'
import type { AccessRules } from '../rules/access-rules.js'

export class CommandFields {
  readonly #command: string
  readonly #body: Uint8Array
  readonly #rules: AccessRules

  constructor(command: string, body: Uint8Array, rules: AccessRules) {
    this.#command = command
    this.#body = body
    this.#rules = rules
  }

  /** The value of the command's own field, a name. */
  name(): string {
    return this.text(this.#command) ?? this.#missing(this.#command)
  }

  text(field: string): string | null {
    return this.#value(field, BsonType.string)?.asString() ?? null
  }

  array(field: string): RawValue | null {
    return this.#value(field, BsonType.array)
  }

  document(field: string): Uint8Array | null {
    return this.#value(field, BsonType.object)?.slice() ?? null
  }

  /** @param absent the value of an absent field */
  flag(field: string, absent: boolean): boolean {
    const value = findField(this.#body, field)
    if (value === undefined) return absent
    if (value.type !== BsonType.bool && !value.isNumber()) throw this.#wrongType(field, value, 'bool')
    return value.isTruthy()
  }

  strings(field: string): string[] | null {
    const array = this.array(field)
    if (array === null) return null
    return elementsOf(array).map((element, i) => {
      if (element.type !== BsonType.string) throw this.#wrongType(`${field}.${i}`, element, 'string')
      return element.asString()
    })
  }

  /** Distinct. */
  roles(field: string, db: string): RoleName[] | null {
    const array = this.array(field)
    return array === null ? null : distinctRoles(elementsOf(array).map((role) => readRoleName(role, db)))
  }

  /** An array that the command needs. */
  required<T>(field: string, value: T | null): T {
    return value ?? this.#missing(field)
  }

  /** Null is like absent to generated parsers. */
  #value(field: string, type: number): RawValue | null {
    const value = findField(this.#body, field)
    if (value === undefined || (value.isNullish() && this.#rules.has('generatedParsers'))) return null
    if (value.type !== type) throw this.#wrongType(field, value, typeName(type))
    return value
  }

  #wrongType(field: string, value: RawValue, expected: string): CommandError {
    const found = typeName(value.type)
    return new CommandError(
      'TypeMismatch',
      this.#rules.has('generatedParsers')
        ? `BSON field '${this.#command}.${field}' is the wrong type '${found}', expected type '${expected}'`
        : `"${field}" had the wrong type. Expected ${expected}, found ${found}`,
    )
  }

  #missing(field: string): never {
    if (this.#rules.has('generatedParsers'))
      throw new CommandError(
        'IDLFailedToParse',
        `BSON field '${this.#command}.${field}' is missing but a required field`,
      )
    if (field === this.#command || !this.#command.startsWith('create'))
      throw new CommandError('NoSuchKey', `Missing expected field "${field}"`)
    throw new CommandError('BadValue', `"${this.#command}" command requires a "${field}" array`)
  }
}
