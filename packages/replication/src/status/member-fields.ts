/** The rows of members in replSetGetStatus. */
import { arrayIndexName, type DocumentWriter } from '@shardlab/bson'
import type { MemberConfig } from '../config/replica-set-config.js'
import { memberStates } from '../members/member-state.js'
import type { MemberView } from '../members/member-view.js'
import type { Timestamp } from '../optime.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { writeOpTime, writeOpTimeDate } from './optime-fields.js'

/** A message about the sync source is shown for so long. */
const messageMs = 120_000

/** In the order of their ids. */
export function writeMembers(writer: DocumentWriter, state: ProtocolState, uptimeSecs: number): void {
  const members = state.config!.members.toSorted((a, b) => a.id - b.id)
  members.forEach((member, i) => {
    const view = state.members.find(({ id }) => id === member.id)!
    writer.startDocument(arrayIndexName(i)).int32('_id', member.id).string('name', member.host)
    if (view === state.self) writeSelf(writer, state, member, uptimeSecs)
    else writePeer(writer, state, member, view)
    writer.end()
  })
}

/** @param host null: none */
export function writeSource(writer: DocumentWriter, state: ProtocolState, host: string | null): void {
  if (state.rules.replicaSetStatus === 'syncingTo') writer.string('syncingTo', host ?? '')
  const id = host === null ? -1 : (state.viewOf(host)?.id ?? -1)
  writer.string('syncSourceHost', host ?? '').int32('syncSourceId', id)
}

function writeSelf(writer: DocumentWriter, state: ProtocolState, member: MemberConfig, uptimeSecs: number): void {
  const { self, memberState, rules, maintenanceCalls, message, nowMs } = state
  const layout = rules.replicaSetStatus
  writer
    .double('health', 1)
    .int32('state', memberStates[memberState])
    .string('stateStr', memberState)
    .int32('uptime', uptimeSecs)
  if (!member.arbiterOnly) {
    writeOpTime(writer, 'optime', self.applied.optime)
    writeOpTimeDate(writer, 'optimeDate', self.applied.optime)
    if (layout === 'written') {
      writeOpTime(writer, 'optimeWritten', self.applied.optime)
      writeOpTimeDate(writer, 'optimeWrittenDate', self.applied.optime)
    }
    writeWallTimes(writer, state, self)
  }
  writeSource(writer, state, state.isPrimary ? null : state.syncSource)
  if (maintenanceCalls > 0) writer.int32('maintenanceMode', maintenanceCalls)
  writer.string('infoMessage', message === null || nowMs - message.atMs > messageMs ? '' : message.text)
  if (state.isPrimary) writeElection(writer, state.electionTime)
  writeVersion(writer, state, state.config!.version, state.config!.term)
  writer.bool('self', true).string('lastHeartbeatMessage', '')
}

function writePeer(writer: DocumentWriter, state: ProtocolState, member: MemberConfig, view: MemberView): void {
  const { applied, durable } = view.reported
  writer
    .double('health', view.health ?? -1)
    .int32('state', memberStates[view.state])
    .string('stateStr', view.health === 0 ? '(not reachable/healthy)' : view.state)
    .int32('uptime', view.upSinceMs === 0 ? 0 : Math.floor((state.nowMs - view.upSinceMs) / 1000))
  if (!member.arbiterOnly) {
    const isWritten = state.rules.replicaSetStatus === 'written'
    writeOpTime(writer, 'optime', applied.optime)
    writeOpTime(writer, 'optimeDurable', durable.optime)
    if (isWritten) writeOpTime(writer, 'optimeWritten', applied.optime)
    writeOpTimeDate(writer, 'optimeDate', applied.optime)
    writeOpTimeDate(writer, 'optimeDurableDate', durable.optime)
    if (isWritten) writeOpTimeDate(writer, 'optimeWrittenDate', applied.optime)
    writeWallTimes(writer, state, view)
  }
  writer
    .date('lastHeartbeat', view.lastHeartbeatMs)
    .date('lastHeartbeatRecv', view.lastHeartbeatReceivedMs)
    .int64('pingMs', view.ping.averageMs ?? 0)
    .string('lastHeartbeatMessage', view.lastHeartbeatMessage)
  writeSource(writer, state, view.state === 'PRIMARY' ? null : view.syncingTo)
  writer.string('infoMessage', '')
  if (view.state === 'PRIMARY') writeElection(writer, view.electionTime)
  writeVersion(writer, state, view.config.version, view.config.term)
}

function writeWallTimes(writer: DocumentWriter, { rules }: ProtocolState, { applied, durable }: MemberView): void {
  if (rules.replicaSetStatus === 'syncingTo') return
  writer.date('lastAppliedWallTime', applied.wallMs).date('lastDurableWallTime', durable.wallMs)
  if (rules.replicaSetStatus === 'written') writer.date('lastWrittenWallTime', applied.wallMs)
}

function writeElection(writer: DocumentWriter, electionTime: Timestamp | null): void {
  const [seconds, increment] = electionTime ?? [0, 0]
  writer.timestamp('electionTime', seconds, increment).date('electionDate', seconds * 1000)
}

function writeVersion(writer: DocumentWriter, { rules }: ProtocolState, version: number, term: number): void {
  writer.integer('configVersion', version)
  if (rules.configTerm) writer.integer('configTerm', term)
}
