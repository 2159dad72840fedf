/** Cursors and operations belong to the users that began them. Server: isCoauthorizedWith. */
import { clusterResource, exactResource, userKey, type UserName } from '@shardlab/auth'
import { CommandError } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { MemberInvocation } from '../member-host.js'

/** Null: access control is off, or a member began it. */
export type Owners = readonly UserName[] | null

/** Whether they have a user in common, or both have none. */
export function isSharedWith(owners: Owners, users: readonly UserName[]): boolean {
  if (owners === null) return false
  if (owners.length === 0) return users.length === 0
  return owners.some((owner) => users.some((user) => userKey(user) === userKey(owner)))
}

/** @throws CommandError Unauthorized */
export function checkCursorOwner(id: bigint, owners: Owners, { operation }: Pick<MemberInvocation, 'operation'>): void {
  const { users } = operation
  if (users === null || isSharedWith(owners, users)) return
  throw new CommandError('Unauthorized', `cursor id ${id} was not created by the authenticated user`)
}

/**
 * Of killCursors: an own cursor, or any with the action killAnyCursor.
 * @param ns of the cursor
 * @throws CommandError Unauthorized
 */
export function checkMayKillCursor(owners: Owners, ns: string, invocation: MemberInvocation): void {
  const { operation, db, body } = invocation
  const { users, access } = operation
  if (users === null || isSharedWith(owners, users)) return
  const dot = ns.indexOf('.')
  const resources = [clusterResource, exactResource(ns.slice(0, dot), ns.slice(dot + 1))]
  if (resources.some((resource) => access?.privileges.allows(resource, 'killAnyCursor') === true)) return
  throw new CommandError('Unauthorized', `not authorized on ${db} to execute command ${formatDocument(body)}`)
}

/** Own operations, and all with the action killop. */
export function mayKillOperation({ host, operation }: MemberInvocation, id: number): boolean {
  const { users, access } = operation
  if (users === null) return true
  if (access?.privileges.allows(clusterResource, 'killop') === true) return true
  for (const each of host.operations) if (each.id === id) return isSharedWith(each.users, users)
  return false
}

/** For currentOp. Null: operations of all users are shown. */
export function shownOwners({ operation }: MemberInvocation, ofAllUsers: boolean): readonly UserName[] | null {
  return ofAllUsers ? null : operation.users
}
