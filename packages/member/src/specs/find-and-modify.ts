/** Server: find_and_modify.cpp, write_ops.idl. */
import type { CommandArguments } from '@shardlab/actor'
import { BsonType, CommandError, emptyDocument, findField } from '@shardlab/bson'
import {
  checkHint,
  checkModification,
  hintValue,
  type DeleteStatement,
  type UpdateStatement,
} from '../writes/statement.js'
import type { CommandSpec } from './command-spec.js'
import { findAndModifyPrivileges } from '../access/write-privileges.js'

export const findAndModifySpec = {
  name: 'findAndModify',
  aliases: ['findandmodify'],
  access: 'write',
  privileges: findAndModifyPrivileges,
  apiVersion1: true,
  manual: 'reference/command/findAndModify',
  retryable: true,
  fields: {
    query: 'object',
    fields: 'object',
    sort: 'object',
    // The server accepts these two and ignores them.
    batchSize: 'number',
    singleBatch: 'bool',
    hint: 'any',
    collation: 'object',
    arrayFilters: 'array',
    remove: 'bool',
    update: 'any',
    upsert: 'bool',
    new: 'bool',
    bypassDocumentValidation: 'bool',
    bypassEmptyTsReplacement: 'bool',
    let: 'object',
    // Of a query that a router has sampled.
    sampleId: 'binary',
  },
} as const satisfies CommandSpec

export interface FindAndModifyRequest {
  readonly statement: UpdateStatement | DeleteStatement
  readonly fields: Uint8Array | undefined
  readonly wantsNew: boolean
}

/** @throws CommandError 9 FailedToParse for arguments that exclude each other */
export function readFindAndModify(args: CommandArguments): FindAndModifyRequest {
  const update = args.value('update')
  const removes = args.bool('remove') === true
  const upsert = args.bool('upsert') === true
  const wantsNew = args.bool('new') === true
  const arrayFilters = args.documents('arrayFilters')
  checkHint(args.value('hint'))
  if (update !== undefined) checkModification(update)
  checkCombination({
    removes,
    updates: update !== undefined,
    upsert,
    wantsNew,
    arrayFilters: arrayFilters !== undefined,
  })
  if (update?.type === BsonType.array && arrayFilters !== undefined)
    throw new CommandError('FailedToParse', 'Cannot specify arrayFilters and a pipeline update')
  const collation = args.document('collation')
  const sort = args.document('sort')
  const search = {
    filter: args.document('query') ?? emptyDocument,
    multi: false,
    ...(collation === undefined ? {} : { collation }),
    ...(sort === undefined ? {} : { sort }),
    ...hintValue(args.value('hint')),
  }
  const statement =
    update === undefined
      ? { ...search, kind: 'delete' as const }
      : {
          ...search,
          kind: 'update' as const,
          update,
          upsert,
          upsertSupplied: false,
          ...(arrayFilters === undefined ? {} : { arrayFilters }),
        }
  return { statement, fields: args.document('fields'), wantsNew }
}

interface Combination {
  readonly removes: boolean
  readonly updates: boolean
  readonly upsert: boolean
  readonly wantsNew: boolean
  readonly arrayFilters: boolean
}

function checkCombination({ removes, updates, upsert, wantsNew, arrayFilters }: Combination): void {
  if (!removes && !updates) throw new CommandError('FailedToParse', 'Either an update or remove=true must be specified')
  if (!removes) return
  if (updates) throw new CommandError('FailedToParse', 'Cannot specify both an update and remove=true')
  if (upsert) throw new CommandError('FailedToParse', 'Cannot specify both upsert=true and remove=true ')
  if (wantsNew) {
    throw new CommandError(
      'FailedToParse',
      "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document",
    )
  }
  if (arrayFilters) throw new CommandError('FailedToParse', 'Cannot specify arrayFilters and remove=true')
}

export function countInReply(body: Uint8Array): number {
  const last = findField(body, 'lastErrorObject')
  return last === undefined ? 0 : (findField(last.bytes, 'n', last.start)?.asNumber() ?? 0)
}
