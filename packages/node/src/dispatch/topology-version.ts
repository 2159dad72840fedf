/**
 * A client learns from `topologyVersion` in an error about the state of a member whether the error
 * is older than what it knows. Server: appendErrorLabelsAndTopologyVersion in
 * service_entry_point_common.cpp; error_codes.yml, category NotPrimaryError.
 */
import { findField, type DocumentWriter } from '@shardlab/bson'
import type { NodeHost } from '../host/node-host.js'

const notPrimaryErrors: ReadonlySet<number> = new Set([189, 10_107, 11_602, 13_435, 13_436])

/** Appends the field if the emulated version has it and the code is about the member's state. */
export function writeTopologyVersion(
  writer: DocumentWriter,
  { behaviours, isStandalone, processId, set }: NodeHost,
  code: number,
): void {
  if (!notPrimaryErrors.has(code) || !behaviours.helloTopologyVersion || isStandalone) return
  set.coordinator.commands.writeTopologyVersion(writer, processId)
}

/** Of a reply so far; 0: it has no error of the write concern. */
export function codeOfWriteConcernError(reply: Uint8Array): number {
  const error = findField(reply, 'writeConcernError')
  return error === undefined ? 0 : (findField(error.bytes, 'code', error.start)?.asNumber() ?? 0)
}
