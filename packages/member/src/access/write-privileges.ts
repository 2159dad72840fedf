/** Server: auth_checks in authorization_checks.cpp, write_ops and bulk_write_common.cpp. */
import type { AccessQuestion } from '@shardlab/actor'
import { BsonType, elementsOf, findField } from '@shardlab/bson'
import { bulkWriteTarget, checkPosition } from '../writes/bulk-write-target.js'
import type { WriteKind } from '../writes/write-statements.js'
import { holdsOn, isTrueIn, namedBy } from './needs.js'

function statementsOf({ body, sequences }: AccessQuestion, name: string): Uint8Array[] {
  const sequence = sequences.find(([id]) => id === name)
  if (sequence !== undefined) return [...sequence[1]]
  const value = findField(body, name)
  if (value?.type !== BsonType.array) return []
  return elementsOf(value).flatMap((each) => (each.type === BsonType.object ? [each.slice()] : []))
}

const bypass = ({ body }: AccessQuestion): readonly string[] =>
  isTrueIn(body, 'bypassDocumentValidation') ? ['bypassDocumentValidation'] : []

/** An insert into `system.indexes` creates an index, in versions with that collection. */
export function insertPrivileges(question: AccessQuestion): boolean {
  const ns = namedBy(question)
  if (!ns.endsWith('.system.indexes')) return holdsOn(question, ns, 'insert', ...bypass(question))
  return statementsOf(question, 'documents').every((document) => {
    const target = findField(document, 'ns')
    return holdsOn(question, target?.type === BsonType.string ? target.asString() : ns, 'createIndex')
  })
}

export function updatePrivileges(question: AccessQuestion): boolean {
  const upserts = statementsOf(question, 'updates').some((statement) => isTrueIn(statement, 'upsert'))
  const actions = upserts ? ['update', 'insert'] : ['update']
  return holdsOn(question, namedBy(question), ...actions, ...bypass(question))
}

export function deletePrivileges(question: AccessQuestion): boolean {
  return holdsOn(question, namedBy(question), 'remove')
}

export function findAndModifyPrivileges(question: AccessQuestion): boolean {
  const { body } = question
  const actions = ['find']
  if (isTrueIn(body, 'remove')) actions.push('remove')
  else actions.push('update')
  if (isTrueIn(body, 'upsert')) actions.push('insert')
  return holdsOn(question, namedBy(question), ...actions, ...bypass(question))
}

/**
 * Of each namespace, the actions of the operations on it.
 * @throws CommandError those of a malformed operation, as the server's parser does first
 */
export function bulkWritePrivileges(question: AccessQuestion): boolean {
  const namespaces = statementsOf(question, 'nsInfo').map((info) => {
    const ns = findField(info, 'ns')
    return { ns: ns?.type === BsonType.string ? ns.asString() : '', actions: new Set<string>(bypass(question)) }
  })
  for (const operation of statementsOf(question, 'ops')) {
    const target = bulkWriteTarget(operation)
    checkPosition(target, operation, namespaces.length)
    for (const action of actionsOf(target.kind, operation)) namespaces[target.namespace]!.actions.add(action)
  }
  return namespaces.every(({ ns, actions }) => actions.size === 0 || holdsOn(question, ns, ...actions))
}

function actionsOf(kind: WriteKind, operation: Uint8Array): readonly string[] {
  if (kind === 'insert') return ['insert']
  if (kind === 'delete') return ['remove']
  return isTrueIn(operation, 'upsert') ? ['update', 'insert'] : ['update']
}
