/** The protocol without a driver, for programs that have ports of their own. */
export {
  BackfillRequiredError,
  BusyDocumentError,
  InvalidValueError,
  MisconfiguredProxyError,
  NotInitializedError,
} from './errors.js'
export {
  RefusedOperationError,
  ReservationLostError,
  RetryTransactionError,
  UnknownOutcomeError,
  ValueTakenError,
} from './errors.js'
export { Maintenance } from './maintenance.js'
export type { Finding } from './findings.js'
export { Enforcement, isMarker } from './enforcement.js'
export type { EnforcementState, Mark } from './enforcement.js'
export type {
  BackfillReport,
  OnProgress,
  Progress,
  RepairReport,
  Standing,
  SweepReport,
  VerifyReport,
  Waiting,
} from './reports.js'
export { PortError } from './port.js'
export type { Clock, Collation, CollectionPort, Fields, PortErrorKind, PortOptions, ReadablePort } from './port.js'
export { UniqueProtocol } from './writes/protocol.js'
export type { Change, Changed, Plan } from './writes/change.js'
export type { Proxy, Reservation } from './proxy.js'
export { parseSpec } from './specs/parse-spec.js'
export type { FieldPath, UniqueSpec, UniqueSpecOptions } from './specs/spec.js'
export type { Transactions, TransactionScope, UniqueEvent, UniqueEventName, World } from './world.js'
