/**
 * All commands read statements into the same types. The fields are checked before the first
 * statement of a batch runs. Server: write_ops.idl, bulk_write.idl.
 */
import { checkFields, checkPipelineElements, type FieldSpecs } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  DocumentWriter,
  documentsOf,
  fieldsOf,
  FieldIterator,
  findField,
  isEmptyDocument,
  type RawValue,
} from '@shardlab/bson'
import type { Language } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import { fieldsIn, unknownFieldsIn } from '../arguments/command-language.js'

export type ModifyKind = 'update' | 'delete'

export interface UpdateStatement {
  readonly kind: 'update'
  readonly filter: Uint8Array
  /** A document (operators or a replacement) or an array (a pipeline). */
  readonly update: RawValue
  /** `c` of an update, `constants` of a bulkWrite: variables of a pipeline. */
  readonly constants?: Uint8Array
  readonly arrayFilters?: readonly Uint8Array[]
  readonly collation?: Uint8Array
  readonly hint?: string | Uint8Array
  readonly sort?: Uint8Array
  readonly multi: boolean
  readonly upsert: boolean
  /** An upsert inserts `constants.new` unchanged. */
  readonly upsertSupplied: boolean
}

export interface DeleteStatement {
  readonly kind: 'delete'
  readonly filter: Uint8Array
  readonly collation?: Uint8Array
  readonly hint?: string | Uint8Array
  /** Of findAndModify only. */
  readonly sort?: Uint8Array
  readonly multi: boolean
}

export interface InsertStatement {
  readonly kind: 'insert'
  readonly document: Uint8Array
}

export type ModifyStatement = UpdateStatement | DeleteStatement
export type WriteStatement = InsertStatement | ModifyStatement

const statementNames = { update: 'update.updates', delete: 'delete.deletes' } as const

const updateFields = {
  q: 'object!',
  u: 'any!',
  c: 'object',
  multi: 'bool',
  upsert: 'bool',
  arrayFilters: 'array',
  collation: 'object',
  upsertSupplied: 'bool',
  hint: 'any',
  sampleId: 'binary',
  sort: 'object',
} as const satisfies FieldSpecs

const deleteFields = {
  q: 'object!',
  limit: 'number!',
  collation: 'object',
  hint: 'any',
  sampleId: 'binary',
} as const satisfies FieldSpecs

const allFields = { update: updateFields, delete: deleteFields } as const
const plainUpdateFields = { ...updateFields, u: 'object!' } as const satisfies FieldSpecs

function statementFields(kind: ModifyKind, language: Language): FieldSpecs {
  const takesPipelines = kind === 'delete' || language.has('form', 'updatePipelines')
  return fieldsIn(language, statementNames[kind], takesPipelines ? allFields[kind] : plainUpdateFields)
}

/**
 * An invalid statement fails the whole command.
 * @returns the statements without fields that the emulated version ignores
 * @throws CommandError 40415 IDLUnknownField, 14 TypeMismatch, 40414 missing field, 9 FailedToParse
 */
export function checkedStatements(
  kind: ModifyKind,
  statements: readonly Uint8Array[],
  { language }: Behaviours,
): readonly Uint8Array[] {
  const fields = statementFields(kind, language)
  const unknown = unknownFieldsIn(language, kind)
  for (const statement of statements) {
    checkFields(statementNames[kind], statement, fields, unknown)
    if ('hint' in fields) checkHint(findField(statement, 'hint'))
    if (kind === 'update') {
      checkModification(findField(statement, 'u')!)
      if (
        'sort' in fields &&
        findField(statement, 'sort') !== undefined &&
        findField(statement, 'multi')?.isTruthy() === true
      )
        throw sortWithMulti()
    } else {
      const limit = findField(statement, 'limit')!.asNumber()
      if (limit !== 0 && limit !== 1)
        throw new CommandError('FailedToParse', `The limit field in delete objects must be 0 or 1. Got ${limit}`)
    }
  }
  return unknown === 'ignored' ? statements.map((statement) => withOnly(fields, statement)) : statements
}

function withOnly(fields: FieldSpecs, statement: Uint8Array): Uint8Array {
  const known = fieldsOf(statement).filter(([name]) => Object.hasOwn(fields, name))
  const writer = new DocumentWriter(statement.length)
  for (const [name, value] of known) writer.value(name, value)
  return writer.finish()
}

/** @throws CommandError 9 FailedToParse unless it is a document or a pipeline, 14 TypeMismatch */
export function checkModification(update: RawValue): void {
  if (update.type === BsonType.array) checkPipelineElements(update)
  else if (update.type !== BsonType.object)
    throw new CommandError('FailedToParse', 'Update argument must be either an object or an array')
}

/** @throws CommandError 9 FailedToParse unless it is a name or a key pattern */
export function checkHint(hint: RawValue | undefined): void {
  if (hint !== undefined && hint.type !== BsonType.string && hint.type !== BsonType.object && !hint.isNullish())
    throw new CommandError('FailedToParse', 'Hint must be a string or an object')
}

export function sortWithMulti(): CommandError {
  return new CommandError('FailedToParse', 'Cannot specify sort with multi=true')
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/**
 * Reads a checked statement: of `updates`, of `deletes`, or an op of a bulkWrite.
 * @param skipped number of leading fields to skip: the first field of an op is named like its
 *   command
 */
export function readModify(kind: ModifyKind, statement: Uint8Array, skipped = 0): ModifyStatement {
  const read = { kind, multi: false, upsert: false, upsertSupplied: false } as Mutable<
    ModifyStatement & UpdateStatement
  >
  let position = 0
  for (const it = new FieldIterator(statement); it.next(); position++) {
    if (position < skipped || it.type === BsonType.null || it.type === BsonType.undefined) continue
    const value = it.value()
    switch (it.name()) {
      case 'q':
      case 'filter':
        read.filter = value.slice()
        break
      case 'u':
      case 'updateMods':
        read.update = value
        break
      case 'c':
      case 'constants':
        read.constants = value.slice()
        break
      case 'multi':
        read.multi = value.isTruthy()
        break
      case 'limit':
        read.multi = value.asNumber() === 0
        break
      case 'upsert':
        read.upsert = value.isTruthy()
        break
      case 'upsertSupplied':
        read.upsertSupplied = value.isTruthy()
        break
      case 'arrayFilters':
        read.arrayFilters = documentsOf(value)
        break
      case 'collation':
        read.collation = value.slice()
        break
      case 'hint':
        Object.assign(read, hintValue(value))
        break
      case 'sort':
        read.sort = value.slice()
        break
    }
  }
  return read
}

/** An empty document counts as absent. */
export function hintValue(value: RawValue | undefined): { hint?: string | Uint8Array } {
  if (value === undefined || value.isNullish()) return {}
  if (value.type === BsonType.string) return { hint: value.asString() }
  const pattern = value.slice()
  return isEmptyDocument(pattern) ? {} : { hint: pattern }
}
