/** Server: parsed_update_base.cpp, upsert_stage.cpp. */
import { BsonType, CommandError, documentsOf, findField, FieldIterator, type RawValue } from '@shardlab/bson'
import {
  compileUpdate,
  expandStages,
  newestLanguage,
  replaceDocument,
  upsertBase,
  type EvaluationContext,
  type Filter,
  type Update,
} from '@shardlab/query'
import type { UpdateStatement } from './statement.js'

/**
 * @throws CommandError 9 FailedToParse, 51198 for constants without a pipeline, and those of
 *   compileUpdate
 */
export function compileStatement(statement: UpdateStatement, context: EvaluationContext): Update {
  const { update, constants, arrayFilters, multi, upsert, upsertSupplied } = statement
  if (upsertSupplied) {
    if (!upsert)
      throw new CommandError('FailedToParse', "cannot specify 'upsertSupplied: true' for a non-upsert operation")
    if (constants === undefined || findField(constants, 'new')?.type !== BsonType.object)
      throw new CommandError(
        'FailedToParse',
        "the parameter 'upsertSupplied' is set to 'true', but no document was supplied",
      )
  }
  // Older servers take any array as a replacement with the indexes as names.
  const takesPipelines = (context.language ?? newestLanguage).has('form', 'updatePipelines')
  const isPipeline = update.type === BsonType.array && takesPipelines
  if (constants !== undefined && !isPipeline)
    throw new CommandError(51198, 'Constant values may only be specified for pipeline updates')
  const change = compileUpdate(
    isPipeline ? { pipeline: documentsOf(update) } : { document: update.slice() },
    {
      ...(arrayFilters === undefined ? {} : { arrayFilters }),
      ...(constants === undefined ? {} : { constants: valuesOf(constants) }),
    },
    context,
  )
  if (multi && change.isReplacement)
    throw new CommandError(
      'FailedToParse',
      takesPipelines
        ? 'multi update is not supported for replacement-style update'
        : 'multi update only works with $ operators',
    )
  return change
}

/**
 * For a batch that has run, and failed: the server counts the stages of a batch after it, and an
 * unknown one fails the command. Server: incrementUpdateMetrics in write_commands.cpp and
 * cluster_write_cmd.cpp.
 * @throws CommandError 40324, 40323
 */
export function checkStages(statements: readonly Uint8Array[], context: EvaluationContext): void {
  for (const statement of statements) {
    const update = findField(statement, 'u')
    if (update?.type === BsonType.array) expandStages(documentsOf(update), context)
  }
}

/** May lack an `_id`. @throws CommandError the errors of `Update.apply` */
export function upsertedDocument(statement: UpdateStatement, change: Update, filter: Filter): Uint8Array {
  // Like a replacement, the supplied document takes the filter's `_id` and must not contradict it.
  if (statement.upsertSupplied)
    return replaceDocument(upsertBase(filter), findField(statement.constants!, 'new')!.slice())
  const base = upsertBase(filter, change.isReplacement ? ['_id'] : null)
  return change.apply(base, { isInsert: true, filter }) ?? base
}

function valuesOf(document: Uint8Array): ReadonlyMap<string, RawValue> {
  const values = new Map<string, RawValue>()
  for (const it = new FieldIterator(document); it.next();) values.set(it.name(), it.value())
  return values
}
