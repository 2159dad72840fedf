/** Why change streams end. Server: plan_executor_pipeline.cpp, error_labels.cpp. */
import {
  CommandError,
  documentValue,
  DocumentWriter,
  ErrorCodes,
  findField,
  isRetriableErrorCode,
} from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import { relabelled } from '../sessions/error-labels.js'

type Rules = Pick<Behaviours, 'changeStreamErrorsAreNamed'>

/**
 * @param token of the event
 * @throws CommandError 280 ChangeStreamFatalError unless the stages of the client have kept it
 */
export function checkTokenIsKept(result: Uint8Array, token: Uint8Array, { changeStreamErrorsAreNamed }: Rules): void {
  const id = findField(result, '_id')
  if (id?.isIdentical(documentValue(token)) === true) return
  const expected = formatDocument(new DocumentWriter(256).document('_id', token).finish())
  const writer = new DocumentWriter(256)
  if (id !== undefined) writer.value('_id', id)
  throw new CommandError(
    changeStreamErrorsAreNamed ? 'ChangeStreamFatalError' : 51060,
    `Encountered an event whose _id field, which contains the resume token, was modified by the pipeline. Modifying the _id field of an event makes it impossible to resume the stream from that point. Only transformations that retain the unmodified _id field are allowed. Expected: ${expected} but found: ${formatDocument(writer.finish())}`,
  )
}

/** @param token of the first event after the place where the client's token should have been */
export function tokenNotFound(token: Uint8Array, { changeStreamErrorsAreNamed }: Rules): CommandError {
  return changeStreamErrorsAreNamed
    ? new CommandError(
        'ChangeStreamFatalError',
        `cannot resume stream; the resume token was not found. ${formatDocument(token)}`,
      )
    : new CommandError(
        40585,
        `resume of change stream was not possible, as the resume token was not found. ${formatDocument(token)}`,
      )
}

/** FailedToSatisfyReadPreference, RetryChangeStream; StaleEpoch, StaleConfig: ask other shards. */
const resumableCodes: ReadonlySet<number> = new Set([
  ErrorCodes.FailedToSatisfyReadPreference,
  ErrorCodes.StaleEpoch,
  ErrorCodes.RetryChangeStream,
  ErrorCodes.StaleConfig,
])

/** 280 ChangeStreamFatalError, 286 ChangeStreamHistoryLost. */
const fatalCodes: ReadonlySet<number> = new Set([ErrorCodes.ChangeStreamFatalError, ErrorCodes.ChangeStreamHistoryLost])

/** Adds the label by which drivers resume a stream, or the one by which they do not. */
export function withStreamLabel(
  error: unknown,
  { resumableErrorLabel }: Pick<Behaviours, 'resumableErrorLabel'>,
): unknown {
  if (!resumableErrorLabel || !(error instanceof CommandError)) return error
  const { code, errorLabels } = error
  const isResumable = isRetriableErrorCode(code) || resumableCodes.has(code)
  if (!isResumable && !fatalCodes.has(code)) return error
  const label = isResumable ? 'ResumableChangeStreamError' : 'NonResumableChangeStreamError'
  return errorLabels.includes(label) ? error : relabelled(error, [...errorLabels, label])
}
