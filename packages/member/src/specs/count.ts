/** What a count asks for. Manual: reference/command/count. Server: count_cmd.cpp, count_request.cpp. */
import { type EvaluationContext, type Filter, compileFilter } from '@shardlab/query'
import type { CommandArguments } from '@shardlab/actor'
import { emptyDocument, DocumentWriter } from '@shardlab/bson'
import { hintOf } from '../arguments/hint.js'
import { countBounds } from '../arguments/read-arguments.js'

/** Arguments of count, as the command table checks them. */
export const countFields = {
  query: 'object',
  limit: 'any',
  skip: 'any',
  hint: 'any',
  collation: 'object',
  fields: 'object',
} as const

export interface CountQuery {
  readonly filter: Filter
  readonly hint: { readonly hint?: string | Uint8Array }
  readonly skip: number
  /** 0: none. */
  readonly limit: number
  readonly context: EvaluationContext
}

/** @throws CommandError what filters and hints are refused with, and as {@link countBounds} */
export function compileCount(args: CommandArguments, context: EvaluationContext): CountQuery {
  return {
    filter: compileFilter(args.document('query') ?? emptyDocument, context),
    hint: hintOf(args),
    ...countBounds(args),
    context,
  }
}

/** `{ n }` as the server appends numbers: int32 where it fits. */
export function writeCount(n: number, writer = new DocumentWriter(128)): DocumentWriter {
  return n < 2 ** 31 ? writer.int32('n', n) : writer.int64('n', n)
}
