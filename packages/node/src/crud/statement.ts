/** The statements of update and delete: their fields, checked before the first of a batch runs. Server: write_ops.idl. */
import { checkFields, CommandArguments, type FieldSpecs } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField } from '@shardlab/bson'

export type ModifyKind = 'update' | 'delete'

const statementNames = { update: 'update.updates', delete: 'delete.deletes' } as const

const statementFields = {
  update: {
    q: 'object!',
    u: 'any!',
    c: 'object',
    multi: 'bool',
    upsert: 'bool',
    arrayFilters: 'array',
    collation: 'object',
    hint: 'any',
    sort: 'object',
    sampleId: 'any',
    upsertSupplied: 'bool',
  },
  delete: { q: 'object!', limit: 'number!', collation: 'object', hint: 'any', sampleId: 'any' },
} as const satisfies Record<ModifyKind, FieldSpecs>

/**
 * What is wrong with one statement is wrong with the whole command.
 * @throws CommandError 40415 IDLUnknownField, 14 TypeMismatch, 40414 missing field, 9 FailedToParse
 */
export function checkStatements(kind: ModifyKind, statements: readonly Uint8Array[]): void {
  for (const statement of statements) {
    checkFields(statementNames[kind], statement, statementFields[kind])
    const hint = findField(statement, 'hint')?.type
    if (hint !== undefined && hint !== BsonType.string && hint !== BsonType.object)
      throw new CommandError('FailedToParse', 'Hint must be a string or an object')
    if (kind === 'update') {
      const u = findField(statement, 'u')!.type
      if (u !== BsonType.object && u !== BsonType.array)
        throw new CommandError('FailedToParse', 'Update argument must be either an object or an array')
    } else {
      const limit = findField(statement, 'limit')!.asNumber()
      if (limit !== 0 && limit !== 1)
        throw new CommandError('FailedToParse', `The limit field in delete objects must be 0 or 1. Got ${limit}`)
    }
  }
}

/** One statement that {@link checkStatements} has passed. */
export function parseStatement(kind: ModifyKind, statement: Uint8Array): CommandArguments {
  const name = statementNames[kind]
  // The parser of commands takes the first field as the command's own; statements have none.
  return CommandArguments.parse(new DocumentWriter(statement.length + 32).int32(name, 1).fields(statement).finish(), statementFields[kind])
}
