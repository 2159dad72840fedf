/**
 * Manual: core/schema-validation. Server: CollectionImpl::checkValidation,
 * collection_write_path.cpp, document_validation.h.
 */
import { CommandError, DocumentWriter, findField, type RawValue } from '@shardlab/bson'
import { compileFilter, type EvaluationContext, type Filter } from '@shardlab/query'
import type { Collection } from '@shardlab/storage'
import type { NodeHost } from '../host/node-host.js'
import { validatorEvaluation } from './check-validator.js'
import { validationErrorDetails } from './error-details.js'

export interface ValidationRequest {
  /** The replaced document of an update; absent or null for an insert and an upsert. */
  readonly before?: Uint8Array | null
  readonly bypass?: boolean
}

interface Validator {
  readonly filter: Filter
  /** An expression that cannot be evaluated is an error. Otherwise it is not satisfied. */
  readonly raisesErrors: boolean
  readonly isModerate: boolean
  readonly warns: boolean
}

/** Cached by the options document: changed options are a new document. */
const compiled = new WeakMap<Uint8Array, Validator | null>()

/**
 * Call with each complete document, including `_id`, before its log entry is applied. Costs one
 * look-up if the collection has no validator. With `validationLevel: 'moderate'` an update may
 * leave an invalid document invalid; with `validationAction: 'warn'` the document is stored and the
 * failure is logged.
 * @throws CommandError 121 DocumentValidationFailure, with
 *   `errInfo: { failingDocumentId, details }` if the emulated version has it
 */
export function checkDocument(
  host: NodeHost,
  collection: Collection,
  document: Uint8Array,
  request: ValidationRequest = {},
): void {
  const validator = validatorOf(host, collection)
  if (validator === null || request.bypass === true) return
  const { isModerate, warns } = validator
  if (matches(validator, document)) return
  const before = request.before ?? null
  if (isModerate && before !== null && !matches(validator, before)) return
  const id = findField(document, '_id')
  if (warns) {
    host.context.log('warn', 'Document would fail validation', { namespace: collection.ns })
    return
  }
  throw failure(host, collection, document, id)
}

export function hasValidator(host: NodeHost, collection: Collection): boolean {
  return validatorOf(host, collection) !== null
}

function validatorOf(host: NodeHost, { options }: Collection): Validator | null {
  let validator = compiled.get(options)
  if (validator === undefined) {
    validator = compile(host, options)
    compiled.set(options, validator)
  }
  return validator
}

function compile(host: NodeHost, options: Uint8Array): Validator | null {
  const expression = findField(options, 'validator')
  const level = findField(options, 'validationLevel')?.asString() ?? 'strict'
  if (expression === undefined || level === 'off') return null
  return {
    filter: compileFilter(expression.slice(), evaluationOf(host, options)),
    raisesErrors: !host.behaviours.validationErrorsHaveDetails,
    isModerate: level === 'moderate',
    warns: findField(options, 'validationAction')?.asString() === 'warn',
  }
}

const evaluationOf = (host: NodeHost, options: Uint8Array): EvaluationContext =>
  validatorEvaluation(host, findField(options, 'collation')?.slice() ?? null)

function matches({ filter, raisesErrors }: Validator, document: Uint8Array): boolean {
  try {
    return filter.matches(document)
  } catch (error) {
    if (!raisesErrors && error instanceof CommandError) return false
    throw error
  }
}

function failure(
  host: NodeHost,
  { options }: Collection,
  document: Uint8Array,
  id: RawValue | undefined,
): CommandError {
  const message = 'Document failed validation'
  if (!host.behaviours.validationErrorsHaveDetails) return new CommandError('DocumentValidationFailure', message)
  const extra = new DocumentWriter(512).startDocument('errInfo')
  if (id !== undefined) extra.value('failingDocumentId', id)
  const validator = findField(options, 'validator')!.slice()
  extra.fields(validationErrorDetails(validator, document, evaluationOf(host, options))).end()
  return new CommandError('DocumentValidationFailure', message, { extra: extra.finish() })
}
