export * from './optime.js'
export * from './rules.js'
export * from './messages.js'
export type { Effect, ElectionReason, StepDownReason } from './effects.js'
export * from './config/replica-set-config.js'
export { memberStates, isReadable, type FollowerMode, type MemberState } from './members/member-state.js'
export type { MemberView } from './members/member-view.js'
export type { TagMode } from './commit/write-concern.js'
export type { StepDownRequest } from './primary/step-down.js'
export type { HelloFacts } from './status/hello.js'
export { commonPoint } from './sync/common-point.js'
export { ReplicationCoordinator, type CoordinatorOptions, type StoredState } from './replication-coordinator.js'
export {
  arbiterPriorityFault,
  configFault,
  configVersionText,
  memberFault,
  unelectableFault,
} from './config/validate.js'
export type { ConfigCommitment } from './config/reconfig.js'
