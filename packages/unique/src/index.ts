export {
  BackfillRequiredError,
  BusyDocumentError,
  InvalidValueError,
  MisconfiguredProxyError,
  NotInitializedError,
} from './core/errors.js'
export {
  RefusedOperationError,
  ReservationLostError,
  RetryTransactionError,
  UnknownOutcomeError,
  ValueTakenError,
} from './core/errors.js'
export { Maintenance } from './core/maintenance.js'
export type { Finding } from './core/findings.js'
export { Enforcement, isMarker } from './core/enforcement.js'
export type { EnforcementState, Mark } from './core/enforcement.js'
export type {
  BackfillReport,
  OnProgress,
  Progress,
  RepairReport,
  Standing,
  SweepReport,
  VerifyReport,
  Waiting,
} from './core/reports.js'
export { PortError } from './core/port.js'
export type { Clock, Collation, CollectionPort, Fields, PortErrorKind, PortOptions, ReadablePort } from './core/port.js'
export { UniqueProtocol } from './core/writes/protocol.js'
export type { Change, Changed, Plan } from './core/writes/change.js'
export type { Proxy, Reservation } from './core/proxy.js'
export { parseSpec } from './core/specs/parse-spec.js'
export type { FieldPath, UniqueSpec, UniqueSpecOptions } from './core/specs/spec.js'
export type { Transactions, TransactionScope, UniqueEvent, UniqueEventName, World } from './core/world.js'
export type { UniqueFieldOptions, UniqueOptions } from './driver/options.js'
export { DuplicateValueError } from './driver/duplicate-value-error.js'
export { UniqueBulkWriteError } from './driver/results.js'
export type { UniqueBulkWriteResult, UniqueWriteError } from './driver/results.js'
export { UniqueCollection, uniqueCollection } from './driver/unique-collection.js'
export type { UniqueCounters, WritePath } from './driver/unique-collection.js'
export { connectUnique, UnreachableError } from './driver/connect.js'
export type { ConnectedCollection } from './driver/connect.js'
