/** The command replSetGetConfig. Server: processReplSetGetConfig. */
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { writeConfig } from '../config/document/write-config.js'
import { configCommitment } from '../config/reconfig.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { uninitializedFault, type CommandAnswer } from './answer.js'

/** @param commitmentStatus the option, which primaries accept since 4.4 */
export function getConfig(state: ProtocolState, commitmentStatus: boolean): CommandAnswer {
  const fault = uninitializedFault(state)
  if (fault !== null) return fault
  const { rules, config, leaderMode } = state
  if (commitmentStatus && rules.safeReconfig && leaderMode !== 'writable') {
    return new CommandError('NotWritablePrimary', 'commitmentStatus is only supported on primary.')
  }
  const writer = new DocumentWriter(1024).startDocument('config')
  writeConfig(writer, config!, rules, true)
  writer.end()
  if (commitmentStatus && rules.safeReconfig) {
    writer.bool('commitmentStatus', configCommitment(state) === 'committed')
  }
  return writer
}
