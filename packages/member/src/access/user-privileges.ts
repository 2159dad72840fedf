/** Commands on users and roles. Their arguments are read here and again when they run. */
import type { AccessQuestion } from '@shardlab/actor'
import {
  checkCreateRoleAccess,
  checkCreateUserAccess,
  checkDropRoles,
  checkDropUsers,
  checkGrantPrivileges,
  checkGrantRoles,
  checkInvalidateUserCache,
  checkMergeAccess,
  checkRevokePrivileges,
  checkRevokeRoles,
  checkRolesInfo,
  checkUpdateRoleAccess,
  checkUpdateUserAccess,
  checkUsersInfo,
  parseMergeArguments,
  parseRoleArguments,
  parseRolePrivilegeArguments,
  parseRoleRoleArguments,
  parseRolesInfo,
  parseUserArguments,
  parseUserRoleArguments,
  parseUsersInfo,
} from '@shardlab/auth'

type Check = (question: AccessQuestion) => void

/** The check throws what the command lacks. */
const passing =
  (check: Check) =>
  (question: AccessQuestion): boolean => {
    check(question)
    return true
  }

export const createUserPrivileges = passing(({ access, body, db, rules }) =>
  checkCreateUserAccess(access, parseUserArguments('createUser', body, db, rules)),
)
export const updateUserPrivileges = passing(({ access, body, db, rules }) =>
  checkUpdateUserAccess(access, parseUserArguments('updateUser', body, db, rules)),
)
export const dropUserPrivileges = passing(({ access, db }) => checkDropUsers(access.privileges, db))
export const dropRolePrivileges = passing(({ access, db }) => checkDropRoles(access.privileges, db))
export const grantRolesToUserPrivileges = passing(({ access, body, db, rules }) =>
  checkGrantRoles(access.privileges, parseUserRoleArguments('grantRolesToUser', body, db, rules).roles),
)
export const revokeRolesFromUserPrivileges = passing(({ access, body, db, rules }) =>
  checkRevokeRoles(access.privileges, parseUserRoleArguments('revokeRolesFromUser', body, db, rules).roles),
)
export const createRolePrivileges = passing(({ access, body, db, rules }) =>
  checkCreateRoleAccess(access, parseRoleArguments('createRole', body, db, rules)),
)
export const updateRolePrivileges = passing(({ access, body, db, rules }) =>
  checkUpdateRoleAccess(access, parseRoleArguments('updateRole', body, db, rules)),
)
export const grantPrivilegesToRolePrivileges = passing(({ access, body, db, rules }) =>
  checkGrantPrivileges(
    access.privileges,
    parseRolePrivilegeArguments('grantPrivilegesToRole', body, db, rules).privileges,
  ),
)
export const revokePrivilegesFromRolePrivileges = passing(({ access, body, db, rules }) =>
  checkRevokePrivileges(
    access.privileges,
    parseRolePrivilegeArguments('revokePrivilegesFromRole', body, db, rules).privileges,
  ),
)
export const grantRolesToRolePrivileges = passing(({ access, body, db, rules }) =>
  checkGrantRoles(access.privileges, parseRoleRoleArguments('grantRolesToRole', body, db, rules).roles),
)
export const revokeRolesFromRolePrivileges = passing(({ access, body, db, rules }) =>
  checkRevokeRoles(access.privileges, parseRoleRoleArguments('revokeRolesFromRole', body, db, rules).roles),
)
export const mergePrivileges = passing(({ access, body, rules }) =>
  checkMergeAccess(access.privileges, parseMergeArguments(body, rules)),
)
export const usersInfoPrivileges = passing(({ access, body, db, rules }) =>
  checkUsersInfo(access, parseUsersInfo(body, db, rules).users, db),
)
export const rolesInfoPrivileges = passing(({ access, body, db, rules }) =>
  checkRolesInfo(access, parseRolesInfo(body, db, rules).roles),
)
export const invalidateUserCachePrivileges = passing(({ access }) => checkInvalidateUserCache(access.privileges))
