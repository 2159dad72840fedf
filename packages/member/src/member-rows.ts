import type { CommandRow } from '@shardlab/actor'
import type { MemberInvocation } from './member-host.js'
import { buildInfo } from './commands/build-info.js'
import { configureFailPoint } from './commands/configure-fail-point.js'
import { connectionStatus } from './commands/connection-status.js'
import { connPoolStats } from './commands/conn-pool-stats.js'
import { features } from './commands/features.js'
import { listCommands } from './commands/list-commands.js'
import { resetError } from './commands/reset-error.js'
import { rotateCertificates } from './commands/rotate-certificates.js'
import { setParameter } from './commands/set-parameter.js'
import { createSearchIndexes } from './commands/create-search-indexes.js'
import { dropSearchIndex } from './commands/drop-search-index.js'
import { endSessions } from './commands/end-sessions.js'
import { getLog } from './commands/get-log.js'
import { getNonce } from './commands/get-nonce.js'
import { getPrevError } from './commands/get-prev-error.js'
import { getParameter } from './commands/get-parameter.js'
import { hostInfo } from './commands/host-info.js'
import { logRotate } from './commands/log-rotate.js'
import { mapReduce } from './commands/map-reduce.js'
import { ping } from './commands/ping.js'
import { profile } from './commands/profile.js'
import { refreshSessions } from './commands/refresh-sessions.js'
import { saslStart } from './commands/sasl-start.js'
import { shutdown } from './commands/shutdown.js'
import { startSession } from './commands/start-session.js'
import { testDeprecation } from './commands/test-deprecation.js'
import { testDeprecationInVersion2 } from './commands/test-deprecation-in-version2.js'
import { testRemoval } from './commands/test-removal.js'
import { testVersion2 } from './commands/test-version2.js'
import { testVersions1And2 } from './commands/test-versions1-and2.js'
import { usersInfo } from './commands/users-info.js'
import { waitForFailPoint } from './commands/wait-for-fail-point.js'
import { updateSearchIndex } from './commands/update-search-index.js'
import { createUser } from './commands/create-user.js'
import { updateUser } from './commands/update-user.js'
import { dropUser } from './commands/drop-user.js'
import { mergeAuthzCollections } from './commands/merge-authz-collections.js'
import { dropAllUsersFromDatabase } from './commands/drop-all-users-from-database.js'
import { grantRolesToUser } from './commands/grant-roles-to-user.js'
import { revokeRolesFromUser } from './commands/revoke-roles-from-user.js'
import { createRole } from './commands/create-role.js'
import { updateRole } from './commands/update-role.js'
import { dropRole } from './commands/drop-role.js'
import { dropAllRolesFromDatabase } from './commands/drop-all-roles-from-database.js'
import { grantPrivilegesToRole } from './commands/grant-privileges-to-role.js'
import { revokePrivilegesFromRole } from './commands/revoke-privileges-from-role.js'
import { grantRolesToRole } from './commands/grant-roles-to-role.js'
import { revokeRolesFromRole } from './commands/revoke-roles-from-role.js'
import { rolesInfo } from './commands/roles-info.js'
import { saslContinue } from './commands/sasl-continue.js'
import { authenticate } from './commands/authenticate.js'
import { logout } from './commands/logout.js'
import { invalidateUserCache } from './commands/invalidate-user-cache.js'
import { whatsmyuri } from './commands/whatsmyuri.js'

/** Every member runs these commands alike, from its own state. */
export const memberRows: readonly CommandRow<MemberInvocation>[] = [
  buildInfo,
  configureFailPoint,
  connectionStatus,
  connPoolStats,
  features,
  listCommands,
  setParameter,
  createSearchIndexes,
  dropSearchIndex,
  endSessions,
  getLog,
  getNonce,
  getParameter,
  getPrevError,
  hostInfo,
  logRotate,
  mapReduce,
  ping,
  profile,
  refreshSessions,
  resetError,
  rotateCertificates,
  saslStart,
  shutdown,
  startSession,
  testDeprecation,
  testDeprecationInVersion2,
  testRemoval,
  testVersion2,
  testVersions1And2,
  updateSearchIndex,
  usersInfo,
  waitForFailPoint,
  createUser,
  updateUser,
  dropUser,
  dropAllUsersFromDatabase,
  mergeAuthzCollections,
  grantRolesToUser,
  revokeRolesFromUser,
  createRole,
  updateRole,
  dropRole,
  dropAllRolesFromDatabase,
  grantPrivilegesToRole,
  revokePrivilegesFromRole,
  grantRolesToRole,
  revokeRolesFromRole,
  rolesInfo,
  saslContinue,
  authenticate,
  logout,
  invalidateUserCache,
  whatsmyuri,
]
