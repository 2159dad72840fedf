/** The part of hello about the set. Server: fillHelloForReplSet, hello_response.cpp. */
import { arrayIndexName, CommandError, type DocumentWriter } from '@shardlab/bson'
import { isElectable, isImplicitMajority, priorityOf, type ReplicaSetConfig } from '../config/replica-set-config.js'
import { isNullOpTime, type OpTime } from '../optime.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { writeOpTime } from './optime-fields.js'

export interface HelloOptions {
  /** With the names of isMaster: `ismaster`, `slaveDelay`. */
  readonly legacy: boolean
  /** ObjectId of this run of the process. */
  readonly processId: Uint8Array
  /** The newest position that majority reads see. Null: none. */
  readonly majorityReads: OpTime | null
  readonly role: 'shard' | 'config-server' | 'none'
  /** As setDefaultRWConcern stored it on this member. Null: it did not. */
  readonly defaultWriteConcern: Uint8Array | null
}

/** Whether the member accepts writes, and whether it calls itself secondary. */
export function helloState({ leaderMode, memberState }: ProtocolState): {
  readonly isWritablePrimary: boolean
  readonly isSecondary: boolean
} {
  // A primary in catch-up or drain calls itself a secondary.
  return {
    isWritablePrimary: leaderMode === 'writable',
    isSecondary: memberState === 'SECONDARY' || leaderMode === 'elected',
  }
}

/**
 * Whether an awaitable hello waits until the topology changes, after the client has sent the
 * version that it has.
 */
export function awaitsTopology(
  { topologyCounter }: ProtocolState,
  { isOfThisProcess, counter }: { readonly isOfThisProcess: boolean; readonly counter: number },
): boolean | CommandError {
  if (counter < 0) return new CommandError(31_372, 'topologyVersion must have a non-negative counter')
  if (!isOfThisProcess) return false
  if (counter <= topologyCounter) return counter === topologyCounter
  return new CommandError(
    31_382,
    `Received a topology version with counter: ${counter} which is greater than the server topology version counter: ${topologyCounter}`,
  )
}

export function writeTopologyVersion(
  writer: DocumentWriter,
  { topologyCounter }: ProtocolState,
  processId: Uint8Array,
): void {
  writer.startDocument('topologyVersion').objectId('processId', processId).int64('counter', topologyCounter).end()
}

/** Appends the fields up to the limits that every member has. */
export function writeHello(writer: DocumentWriter, state: ProtocolState, options: HelloOptions): void {
  const { config, selfConfig, rules } = state
  if (rules.helloTopologyVersion) writeTopologyVersion(writer, state, options.processId)
  if (config !== null && selfConfig !== null) writeMember(writer, state, config, options)
  else writeNoConfig(writer, config, options)
  if (showsDefaultWriteConcern(options, rules)) {
    writer.bool('isImplicitDefaultMajorityWC', config === null || isImplicitMajority(config))
    if (options.defaultWriteConcern !== null) writer.document('cwwc', options.defaultWriteConcern)
  }
  if (options.role === 'config-server') writer.int32('configsvr', 2)
}

/** Config servers compare it with that of the cluster when the set becomes a shard. */
function showsDefaultWriteConcern({ role }: HelloOptions, rules: ProtocolState['rules']): boolean {
  if (!rules.implicitMajorityWriteConcern) return false
  return role === 'shard' || (role === 'config-server' && rules.configServersAreShardServers)
}

/** Not initiated, or removed from the set. */
function writeNoConfig(writer: DocumentWriter, config: ReplicaSetConfig | null, { legacy }: HelloOptions): void {
  if (config !== null) writer.string('setName', config.name)
  writer
    .bool(legacy ? 'ismaster' : 'isWritablePrimary', false)
    .bool('secondary', false)
    .string('info', 'Does not have a valid replica set config')
    .bool('isreplicaset', true)
}

function writeMember(
  writer: DocumentWriter,
  state: ProtocolState,
  config: ReplicaSetConfig,
  { legacy, majorityReads }: HelloOptions,
): void {
  const self = state.selfConfig!
  writeHosts(writer, config)
  const { isWritablePrimary, isSecondary } = helloState(state)
  writer
    .string('setName', config.name)
    .int32('setVersion', config.version)
    .bool(legacy ? 'ismaster' : 'isWritablePrimary', isWritablePrimary)
    .bool('secondary', isSecondary)
  if (state.primary !== null) writer.string('primary', state.primary.host)
  if (self.arbiterOnly) writer.bool('arbiterOnly', true)
  else if (priorityOf(self) === 0) writer.bool('passive', true)
  if (self.hidden) writer.bool('hidden', true)
  if (!self.buildIndexes) writer.bool('buildIndexes', false)
  if (self.delaySecs > 0) writer.integer(legacy ? 'slaveDelay' : 'secondaryDelaySecs', self.delaySecs)
  if (self.tags.length > 0) {
    writer.startDocument('tags')
    for (const [name, value] of self.tags) writer.string(name, value)
    writer.end()
  }
  writer.string('me', self.host)
  if (state.isPrimary) writer.objectId('electionId', electionIdOf(state.electionTerm))
  writeLastWrite(writer, state.self.applied.optime, majorityReads)
}

/** Members that clients see: none that are hidden or delayed. `passives` have no priority. */
export function hostLists({ members }: ReplicaSetConfig): Record<'hosts' | 'passives' | 'arbiters', string[]> {
  const shown = members.filter(({ hidden, delaySecs }) => !hidden && delaySecs === 0)
  const hostsOf = (list: typeof shown): string[] => list.map(({ host }) => host)
  return {
    hosts: hostsOf(shown.filter(isElectable)),
    passives: hostsOf(shown.filter((member) => !isElectable(member) && !member.arbiterOnly)),
    arbiters: hostsOf(shown.filter(({ arbiterOnly }) => arbiterOnly)),
  }
}

function writeHosts(writer: DocumentWriter, config: ReplicaSetConfig): void {
  for (const [name, list] of Object.entries(hostLists(config))) {
    if (list.length === 0) continue
    writer.startArray(name)
    list.forEach((host, i) => writer.string(arrayIndexName(i), host))
    writer.end()
  }
}

function writeLastWrite(writer: DocumentWriter, last: OpTime, majority: OpTime | null): void {
  writer.startDocument('lastWrite')
  writeOpTime(writer, 'opTime', last)
  writer.date('lastWriteDate', last.ts[0] * 1000)
  if (majority !== null && !isNullOpTime(majority)) {
    writeOpTime(writer, 'majorityOpTime', majority)
    writer.date('majorityWriteDate', majority.ts[0] * 1000)
  }
  writer.end()
}

/** Greater terms have greater ids: drivers tell an old primary from a new one. */
export function electionIdOf(term: number): Uint8Array {
  const id = Buffer.alloc(12)
  id.writeUInt32BE(0x7fffffff)
  id.writeBigInt64BE(BigInt(term), 4)
  return id
}

/** `serverStatus.repl`, whose later fields are about services of the process. */
export function writeReplStatus(
  writer: DocumentWriter,
  state: ProtocolState,
  options: Omit<HelloOptions, 'legacy'>,
  rollbackId: number,
): void {
  // Its names changed with the form of the configuration, in 5.0.
  writeHello(writer, state, { ...options, legacy: !state.rules.configIsStructure })
  writer.int32('rbid', rollbackId)
}
