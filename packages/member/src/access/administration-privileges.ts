/** Server: the command's own doCheckAuthorization or checkAuthForOperation. */
import { CommandArguments, type AccessQuestion } from '@shardlab/actor'
import { BsonType, findField, firstFieldName } from '@shardlab/bson'
import { isAllowed } from './authorize.js'
import { holdsOn, holdsOnCluster, holdsOnDatabase, isTrueIn, nameIn, namedBy } from './needs.js'

/** Those of the explained command. An unknown one fails when the command runs. */
export function explainPrivileges(question: AccessQuestion): boolean {
  const explained = question.args.target
  if (explained.type !== BsonType.object) return true
  const inner = explained.slice()
  const name = firstFieldName(inner) ?? ''
  const privileges = question.privilegesOf(name)
  if (privileges === undefined || privileges === explainPrivileges) return true
  const args = CommandArguments.parse(inner, null)
  return isAllowed(privileges, { ...question, command: name, body: inner, args, sequences: [] })
}

/** Reading the level needs less than setting it. Server: profile_common.cpp. */
export function profilePrivileges(question: AccessQuestion): boolean {
  const { body, db, args } = question
  const { target } = args
  const reads = target.isNumber() && target.asNumber() === -1
  const changes = ['slowms', 'sampleRate'].some((field) => findField(body, field) !== undefined)
  if (reads && !changes && holdsOn(question, `${db}.system.profile`, 'find')) return true
  return holdsOnDatabase(question, db, 'enableProfiler')
}

export function currentOpPrivileges(question: AccessQuestion): boolean {
  return holdsOnCluster(question, 'inprog') || isTrueIn(question.body, '$ownOps')
}

/** Only members send `term`. */
export function getMorePrivileges(question: AccessQuestion): boolean {
  return findField(question.body, 'term') === undefined || holdsOnCluster(question, 'internal')
}

/** On the cluster, or on the database or collection that is checked. */
export function checkMetadataConsistencyPrivileges(question: AccessQuestion): boolean {
  const { args, db } = question
  const action = 'checkMetadataConsistency'
  if (holdsOnCluster(question, action)) return true
  if (args.target.type === BsonType.string) return holdsOn(question, namedBy(question), action)
  return db !== 'admin' && holdsOnDatabase(question, db, action)
}

/** A client with rights on the catalog needs no action. Server: add_shard_to_zone_command.cpp … */
export const zonePrivileges =
  (...fallback: readonly (readonly [collection: string, ...actions: string[]])[]) =>
  (question: AccessQuestion): boolean =>
    holdsOnCluster(question, 'enableSharding') ||
    fallback.every(([collection, ...actions]) => holdsOn(question, `config.${collection}`, ...actions))

/** Of the commands that switch the balancer. Server: cluster_control_balancer_cmd.cpp. */
export const onConfigSettings =
  (action: string) =>
  (question: AccessQuestion): boolean =>
    holdsOn(question, 'config.settings', action)

/** Defragmentation and the switch of balancing move chunks. */
export function configureBalancingPrivileges(question: AccessQuestion): boolean {
  const { body } = question
  const moves = isTrueIn(body, 'defragmentCollection') || findField(body, 'enableBalancing') !== undefined
  return holdsOn(question, nameIn(question), 'splitChunk', ...(moves ? ['moveChunk'] : []))
}

/** On a router own operations must run; a mongod ignores others. Server: kill_op_cmd_base.cpp. */
export function killOpPrivileges(question: AccessQuestion): boolean {
  if (holdsOnCluster(question, 'killop')) return true
  const op = findField(question.body, 'op')
  if (!question.isRouter) return true
  return op?.isNumber() === true && question.ownsOperation(op.asNumber())
}
