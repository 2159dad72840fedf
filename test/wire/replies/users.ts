/**
 * Replies to commands on users and roles, in the database of the row. Each row needs those before.
 */
import { admin, type ReplyRow } from './reply-row.js'

const read = { resource: { db: 'types', collection: '' }, actions: ['find'] }

export const userReplies: readonly ReplyRow[] = [
  { command: { createUser: 'a', pwd: 'secret', roles: [] }, types: {} },
  { command: { updateUser: 'a', customData: { a: 1 } }, types: {} },
  { command: { grantRolesToUser: 'a', roles: ['read'] }, types: {} },
  { command: { revokeRolesFromUser: 'a', roles: ['read'] }, types: {} },
  {
    command: { usersInfo: 'a' },
    types: {
      users: 'array',
      'users[]._id': 'string',
      'users[].userId': 'binData',
      'users[].user': 'string',
      'users[].db': 'string',
      'users[].customData': 'object',
      'users[].roles': 'array',
      'users[].mechanisms': 'array',
    },
  },
  { command: { createRole: 'b', privileges: [], roles: [] }, types: {} },
  { command: { createRole: 'c', privileges: [], roles: [] }, types: {} },
  { command: { updateRole: 'b', roles: ['read'] }, types: {} },
  { command: { grantPrivilegesToRole: 'b', privileges: [read] }, types: {} },
  { command: { revokePrivilegesFromRole: 'b', privileges: [read] }, types: {} },
  { command: { grantRolesToRole: 'b', roles: ['c'] }, types: {} },
  { command: { revokeRolesFromRole: 'b', roles: ['c'] }, types: {} },
  {
    command: { rolesInfo: 'b' },
    types: {
      roles: 'array',
      'roles[]._id': 'string',
      'roles[].role': 'string',
      'roles[].db': 'string',
      'roles[].isBuiltin': 'bool',
      'roles[].roles': 'array',
      'roles[].inheritedRoles': 'array',
    },
  },
  { command: { dropRole: 'b' }, types: {} },
  { command: { dropAllRolesFromDatabase: 1 }, types: { n: 'int' } },
  { command: { dropUser: 'a' }, types: {} },
  { command: { dropAllUsersFromDatabase: 1 }, types: { n: 'int' } },
  { command: { _mergeAuthzCollections: 1, tempUsersCollection: 'admin.tempusers', db: '' }, db: admin, types: {} },
  { command: { logout: 1 }, types: {} },
  { command: { invalidateUserCache: 1 }, db: admin, types: {} },
]
