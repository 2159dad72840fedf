/** Server: document_source_current_op.cpp. Manual: reference/operator/aggregation/currentOp. */
import { BsonType, CommandError, FieldIterator, typeName, type RawValue } from '@shardlab/bson'

export interface CurrentOpOptions {
  readonly allUsers: boolean
  readonly idleConnections: boolean
  readonly idleCursors: boolean
  readonly idleSessions: boolean
  /** On a router: its own operations instead of those of the shards. */
  readonly localOps: boolean
  readonly truncateOps: boolean
  readonly backtrace: boolean
}

const defaults: CurrentOpOptions = {
  allUsers: false,
  idleConnections: false,
  idleCursors: false,
  idleSessions: true,
  localOps: false,
  truncateOps: false,
  backtrace: false,
}

/** @throws CommandError 9 FailedToParse, 14 TypeMismatch */
export function parseCurrentOpOptions(argument: RawValue): CurrentOpOptions {
  const options: Record<string, boolean> = { ...defaults }
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const name = it.name()
    if (!Object.hasOwn(defaults, name))
      throw new CommandError('FailedToParse', `Unrecognized option '${name}' in $currentOp stage.`)
    if (it.type !== BsonType.bool) {
      throw new CommandError(
        name === 'allUsers' || name === 'localOps' ? 'TypeMismatch' : 'FailedToParse',
        `The '${name}' parameter of the $currentOp stage must be a boolean value, but found: ${typeName(it.type)}`,
      )
    }
    options[name] = it.value().asBool()
  }
  return options as unknown as CurrentOpOptions
}

/** @throws CommandError 73 InvalidNamespace */
export function checkAdminDatabase(ns: string): void {
  if (!ns.startsWith('admin.$cmd'))
    throw new CommandError(
      'InvalidNamespace',
      "$currentOp must be run against the 'admin' database with {aggregate: 1}",
    )
}
