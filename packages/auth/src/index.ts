export {
  distinctRoles,
  fullRoleName,
  fullUserName,
  readRoleName,
  readUserName,
  roleKey,
  userDigest,
  userKey,
  type RoleName,
  type UserName,
} from './names.js'
export { actionTypeTable, anyAction, controlAction, type ActionType } from './privileges/action-type-table.js'
export { parsePrivileges } from './privileges/parse-privileges.js'
export {
  mergePrivileges,
  privilege,
  subtractPrivileges,
  writePrivileges,
  type Privilege,
} from './privileges/privilege.js'
export { PrivilegeSet } from './privileges/privilege-set.js'
export { RecordedPrivileges, type Privileges, type UsedPrivilege } from './privileges/recorded-privileges.js'
export {
  anyNormalResource,
  anyResource,
  bucketsResource,
  clusterResource,
  collectionResource,
  databaseResource,
  exactResource,
  patternKey,
  patternsCovering,
  writeResource,
  type Resource,
  type ResourcePattern,
} from './privileges/resource.js'
export { builtInRoleTable, type BuiltInRole, type Grant } from './roles/built-in-role-table.js'
export { builtInRolesOf, isBuiltInRole, privilegesOfBuiltInRole } from './roles/built-in-roles.js'
export { describeAsUser, describeRoles, describeRolesOf, type RoleDetails } from './roles/describe-roles.js'
export { checkMerge, checkMergeAccess, parseMergeArguments, type MergeArguments } from './users/merge-command.js'
export { readRole, writeRole, type RoleDocument } from './roles/role-document.js'
export { RoleGraph, type ResolvedRoles } from './roles/role-graph.js'
export { accessRuleTable, type AccessRuleName } from './rules/access-rule-table.js'
export { AccessRules } from './rules/access-rules.js'
export { isAlive, type Lifetime, type Release } from './rules/lifetime.js'
export { AuthenticationError } from './scram/authentication-error.js'
export { decodeBase64 } from './scram/base64.js'
export { makeCredentials, readCredentials, writeCredentials, type ScramCredentials } from './scram/credentials.js'
export { scramMechanisms, type ScramMechanism } from './scram/mechanism.js'
export { passwordOf, usePreparation } from './scram/password.js'
export { ScramConversation, type ScramReply } from './scram/conversation.js'
export {
  missingTimeKeys,
  readTimeKey,
  timeKeyBytes,
  writeTimeKey,
  type ClusterTime,
  type TimeKey,
} from './times/time-key.js'
export { TimeSigner, type TimeSignature } from './times/time-signer.js'
export { describeUsers, type UserDetails } from './users/describe-users.js'
export { mechanismsOf, readUser, writeUser, type UserDocument } from './users/user-document.js'
export { checkAddressRestrictions, meetsAddressRestrictions } from './users/address-restrictions.js'
export * from './users/command-access.js'
export * from './users/role-commands.js'
export * from './users/user-commands.js'
export * from './users/info-commands.js'
