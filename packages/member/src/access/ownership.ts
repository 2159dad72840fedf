/** Cursors and operations belong to the users that began them. Server: isCoauthorizedWith. */
import { clusterResource, exactResource, userKey, type UsedPrivilege, type UserName } from '@shardlab/auth'
import { CommandError } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { MemberInvocation } from '../member-host.js'
import type { RunningOperation } from '../operations/running-operation.js'

/** Null: access control is off, or a member began it. */
export type Owners = readonly UserName[] | null

/** Of a cursor. Null: access control is off, or a member began it. */
export type CursorOwner = {
  readonly users: readonly UserName[]
  readonly usedPrivileges: readonly UsedPrivilege[]
} | null

export function cursorOwner({ command, users, usedPrivileges }: RunningOperation): CursorOwner {
  if (users === null) return null
  if (usedPrivileges === null) throw new Error(`the row of ${command} does not say that it opens a cursor`)
  return { users, usedPrivileges }
}

/** Whether they have a user in common, or both have none. */
export function isSharedWith(owners: Owners, users: readonly UserName[]): boolean {
  if (owners === null) return false
  if (owners.length === 0) return users.length === 0
  return owners.some((owner) => users.some((user) => userKey(user) === userKey(owner)))
}

/**
 * The user of getMore is that of the cursor, and still has the privileges with which it began.
 * @throws CommandError Unauthorized
 */
export function checkCursorOwner(
  id: bigint,
  owner: CursorOwner,
  { operation }: Pick<MemberInvocation, 'operation'>,
): void {
  const { users, access } = operation
  if (users === null) return
  if (owner === null || !isSharedWith(owner.users, users))
    throw new CommandError('Unauthorized', `cursor id ${id} was not created by the authenticated user`)
  if (!owner.usedPrivileges.every(({ resource, actions }) => access!.privileges.allows(resource, ...actions)))
    throw new CommandError('Unauthorized', `not authorized for getMore with cursor id ${id}`)
}

/**
 * Of killCursors: an own cursor, or any with the action killAnyCursor.
 * @param ns of the cursor
 * @throws CommandError Unauthorized
 */
export function checkMayKillCursor(owner: CursorOwner, ns: string, invocation: MemberInvocation): void {
  const { operation, db, body } = invocation
  const { users, access } = operation
  if (users === null || isSharedWith(owner?.users ?? null, users)) return
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
