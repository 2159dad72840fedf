/** Server: query_request_helper.cpp, parsed_find_command.cpp, canonical_query.cpp. */
import type { CommandArguments } from '@shardlab/actor'
import { CommandError, emptyDocument, FieldIterator, fieldsOf, findField, isEmptyDocument } from '@shardlab/bson'
import {
  compileFilter,
  compileProjection,
  wrappedError,
  type EvaluationContext,
  type Filter,
  type SortPattern,
} from '@shardlab/query'
import type { TailableMode } from '../cursors/tailable-mode.js'
import { checkNatural, hintOf } from '../arguments/hint.js'
import { isAbsentOrEmpty, nonNegative } from '../arguments/read-arguments.js'
import { parseQuerySort } from '../reads/query-sort.js'
import { rowShape, type RowShape } from '../reads/row-shape.js'
import type { CommandSpec } from './command-spec.js'
import { onNamespace } from '../access/needs.js'

export const findSpec = {
  name: 'find',
  access: 'read',
  privileges: onNamespace('find'),
  endsWithClient: true,
  opensCursor: true,
  apiVersion1: true,
  manual: 'reference/command/find',
  fields: {
    filter: 'object',
    sort: 'object',
    projection: 'object',
    hint: 'any',
    skip: 'number',
    limit: 'number',
    batchSize: 'number',
    singleBatch: 'bool',
    max: 'object',
    min: 'object',
    returnKey: 'bool',
    showRecordId: 'bool',
    tailable: 'bool',
    awaitData: 'bool',
    oplogReplay: 'bool',
    noCursorTimeout: 'bool',
    allowPartialResults: 'bool',
    allowDiskUse: 'bool',
    collation: 'object',
    let: 'object',
    collectionUUID: 'binary',
  },
  memberFields: { querySettings: 'object' },
} as const satisfies CommandSpec

export interface FindQuery {
  readonly filter: Filter
  /** Null: none. `$natural` is a sort as well. */
  readonly sort: SortPattern | null
  readonly hint: { readonly hint?: string | Uint8Array }
  readonly skip: number
  /** 0: no limit. */
  readonly limit: number
  /** Bounds of the hinted index; null: none. */
  readonly min: Uint8Array | null
  readonly max: Uint8Array | null
  readonly returnKey: boolean
  readonly shape: RowShape
  readonly tailable: TailableMode
  /** Null: the default of the emulated version. */
  readonly allowDiskUse: boolean | null
  readonly context: EvaluationContext
}

/**
 * Checks what does not depend on the collection.
 * @throws CommandError 51024, 51176, 9 FailedToParse, 2 BadValue
 */
export function checkFindArguments(args: CommandArguments): void {
  for (const name of ['skip', 'limit', 'batchSize']) nonNegative(args, name)
  const min = args.document('min')
  const max = args.document('max')
  if (!isAbsentOrEmpty(min) && !isAbsentOrEmpty(max) && !sameFields(min!, max!))
    throw new CommandError(51176, 'min and max must have the same field names')
  const sort = args.document('sort') ?? emptyDocument
  checkNatural(sort, 'sort')
  const { hint } = hintOf(args)
  if (tailableModeOf(args) !== 'no') {
    const onlyNatural = findField(sort, '$natural')?.asNumber() === 1 && fieldsOf(sort).length === 1
    if (!isEmptyDocument(sort) && !onlyNatural)
      throw new CommandError('BadValue', 'cannot use tailable option with a sort other than {$natural: 1}')
    if (args.bool('singleBatch') === true)
      throw new CommandError('BadValue', "cannot use tailable option with the 'singleBatch' option")
  }
  checkNaturalOrder(sort, hint)
}

/** @throws CommandError 9 FailedToParse for awaitData without tailable */
export function tailableModeOf(args: CommandArguments): TailableMode {
  const awaitData = args.bool('awaitData') === true
  if (args.bool('tailable') === true) return awaitData ? 'await-data' : 'tailable'
  if (awaitData) throw new CommandError('FailedToParse', "Cannot set 'awaitData' without also setting 'tailable'")
  return 'no'
}

/**
 * @throws CommandError those of {@link checkFindArguments}, errors of filter, projection and sort
 */
export function compileFind(args: CommandArguments, context: EvaluationContext): FindQuery {
  try {
    return compile(args, context)
  } catch (error) {
    throw findError(error, context)
  }
}

/** For an error about the query, as the emulated version reports it. */
export function findError(error: unknown, context: Pick<EvaluationContext, 'language'>): unknown {
  return wrappedError(error, context, 17287, "Can't canonicalize query")
}

function compile(args: CommandArguments, context: EvaluationContext): FindQuery {
  const fixed = args.fixed(findOptionsOf, findOptionsOf, findOptionsOf)
  const filter = compileFilter(args.document('filter') ?? emptyDocument, context)
  const { skip, limit, hint, min, max, returnKey, tailable, allowDiskUse } = fixed
  const sort = fixed.sort === null ? null : parseQuerySort(fixed.sort, context.language)
  const ordered = sort !== null && sort.natural === null ? sort : undefined
  const shape = rowShape(fixed.projection, {
    showRecordId: fixed.showRecordId,
    sort: ordered,
    context,
    compile: (projection) =>
      compileProjection(projection, context, { filter, ...(ordered === undefined ? {} : { sort: ordered }) }),
  })
  return { filter, sort, hint, skip, limit, min, max, returnKey, shape, tailable, allowDiskUse, context }
}

/** Arguments, besides the filter, that select documents or change the results. */
const notFilterOnly = [
  'sort',
  'projection',
  'hint',
  'skip',
  'min',
  'max',
  'returnKey',
  'showRecordId',
  'tailable',
  'collation',
  'let',
] as const

export type FindOptions = Pick<
  FindQuery,
  'skip' | 'limit' | 'hint' | 'min' | 'max' | 'returnKey' | 'tailable' | 'allowDiskUse'
> & {
  readonly sort: Uint8Array | null
  readonly projection: Uint8Array | undefined
  readonly showRecordId: boolean
  /** Whether the filter alone selects the documents and they are returned unchanged, each once. */
  readonly isFilterOnly: boolean
}

/** @throws CommandError those of {@link checkFindArguments} */
export function findOptionsOf(args: CommandArguments): FindOptions {
  checkFindArguments(args)
  const sort = args.document('sort')
  const returnKey = args.bool('returnKey') === true
  return {
    isFilterOnly: !notFilterOnly.some((name) => args.has(name)),
    sort: isAbsentOrEmpty(sort) ? null : sort!,
    projection: args.document('projection'),
    hint: hintOf(args),
    skip: nonNegative(args, 'skip') ?? 0,
    limit: nonNegative(args, 'limit') ?? 0,
    min: boundOf(args, 'min'),
    max: boundOf(args, 'max'),
    returnKey,
    // returnKey excludes showRecordId.
    showRecordId: args.bool('showRecordId') === true && !returnKey,
    tailable: tailableModeOf(args),
    allowDiskUse: args.bool('allowDiskUse') ?? null,
  }
}

function boundOf(args: CommandArguments, name: 'min' | 'max'): Uint8Array | null {
  const document = args.document(name)
  return isAbsentOrEmpty(document) ? null : document!
}

function sameFields(a: Uint8Array, b: Uint8Array): boolean {
  const left = new FieldIterator(a)
  const right = new FieldIterator(b)
  for (;;) {
    const more = left.next()
    if (more !== right.next()) return false
    if (!more) return true
    if (left.name() !== right.name()) return false
  }
}

function checkNaturalOrder(sort: Uint8Array, hint: string | Uint8Array | undefined): void {
  const sortNatural = findField(sort, '$natural')
  const hintNatural = hint === undefined || typeof hint === 'string' ? undefined : findField(hint, '$natural')
  if (sortNatural !== undefined && fieldsOf(sort).length !== 1)
    throw new CommandError('BadValue', "Cannot include '$natural' in compound sort")
  if (hintNatural !== undefined && fieldsOf(hint as Uint8Array).length !== 1)
    throw new CommandError('BadValue', "Cannot include '$natural' in compound hint")
  if (sortNatural === undefined || hint === undefined) return
  if (hintNatural === undefined) throw new CommandError('BadValue', 'index hint not allowed with $natural sort order')
  if (Math.trunc(hintNatural.asNumber()) !== Math.trunc(sortNatural.asNumber()))
    throw new CommandError('BadValue', '$natural hint must be in the same direction as $natural sort order')
}
