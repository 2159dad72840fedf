/** Server: CollectionImpl::parseValidator, checkValidatorCanBeUsedOnNs. */
import { CommandError, isEmptyDocument } from '@shardlab/bson'
import { compileFilter, validatorFilterFeatures, withoutOptimization, type EvaluationContext } from '@shardlab/query'
import { withCollation, splitNamespace } from '@shardlab/member'
import type { NodeHost } from '../host/node-host.js'

/**
 * @throws CommandError 72 InvalidOptions for collections without validators, and the errors of the
 * filter
 */
export function checkValidator(node: NodeHost, ns: string, validator: Uint8Array, collation: Uint8Array | null): void {
  if (isEmptyDocument(validator)) return
  const [db, name] = splitNamespace(ns)
  if (name.startsWith('system.'))
    throw new CommandError('InvalidOptions', `Document validators not allowed on system collection ${ns}`)
  if (db === 'admin' || db === 'local' || db === 'config')
    throw new CommandError(
      'InvalidOptions',
      `Document validators are not allowed on collection ${ns} in the ${db} internal database`,
    )
  compileFilter(validator, validatorEvaluation(node, collation), validatorFilterFeatures)
}

/** Without the time of a command, because validators outlive commands. */
export function validatorEvaluation(node: NodeHost, collation: Uint8Array | null): EvaluationContext {
  const context = { ...withoutOptimization(node.evaluation()), lacksRuntimeConstants: true }
  return withCollation(context, undefined, collation)
}
