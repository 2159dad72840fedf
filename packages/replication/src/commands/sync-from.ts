/** The command replSetSyncFrom. Server: prepareSyncFromResponse. */
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { parseHost } from '../config/host-and-port.js'
import { isVoter } from '../config/replica-set-config.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { uninitializedFault, type CommandAnswer } from './answer.js'

/** A source that is further behind than this gets a warning. */
const behindSecs = 10

/** The next selection takes this host, once. */
export function syncFrom(state: ProtocolState, target: string): CommandAnswer {
  const parsed = parseHost(target)
  const fault = uninitializedFault(state)
  if (fault !== null) return fault
  if ('fault' in parsed) return new CommandError('FailedToParse', parsed.fault)
  const { host } = parsed
  const refused = refusal(state, host)
  if (refused !== null) return refused
  const view = state.viewOf(host)!
  const writer = new DocumentWriter(256).string('syncFromRequested', host)
  if (view.reported.applied.optime.ts[0] + behindSecs < state.self.applied.optime.ts[0]) {
    writer.string('warning', `requested member "${host}" is more than 10 seconds behind us`)
  }
  if (state.syncSource !== null) writer.string('prevSyncTarget', state.syncSource)
  state.requestedSyncSource = host
  state.emit({ kind: 'sync-source-lost' })
  return writer
}

function refusal(state: ProtocolState, host: string): CommandError | null {
  const self = state.selfConfig
  if (self === null) return new CommandError('NotSecondary', 'Removed and uninitialized nodes do not sync')
  if (self.arbiterOnly) return new CommandError('NotSecondary', "arbiters don't sync")
  if (state.isPrimary) return new CommandError('NotSecondary', "primaries don't sync")
  const view = state.viewOf(host)
  if (view === null) return new CommandError('NodeNotFound', `Could not find member "${host}" in replica set`)
  if (view === state.self) return new CommandError('InvalidOptions', 'I cannot sync from myself')
  const member = state.configOf(view)
  const because = (reason: string) =>
    new CommandError('InvalidOptions', `Cannot sync from "${host}" because it ${reason}`)
  if (member.arbiterOnly) return because('is an arbiter')
  if (!member.buildIndexes && self.buildIndexes) return because('does not build indexes')
  if (isVoter(self) && !isVoter(member)) return because('is not a voter')
  if (view.health === 0) return new CommandError('HostUnreachable', `I cannot reach the requested member: ${host}`)
  return null
}
