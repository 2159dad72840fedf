export * from './answering.js'
export {
  checkType,
  type FieldCheck,
  type HandwrittenParser,
  type FieldSpecs,
  type FieldType,
  wrongType,
} from './argument-types.js'
export * from './arguments.js'
export * from './cluster-time.js'
export * from './names.js'
export type { AccessQuestion, CommandPrivileges, NeededPrivilege, NeededResource } from './privileges.js'
export * from './request-failure.js'
export * from './row.js'
export * from './unexpected-error.js'
