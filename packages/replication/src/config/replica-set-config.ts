/**
 * The configuration of a replica set. `document/` reads and writes its document, the one in
 * `local.system.replset`. Server: repl_set_config.idl, member_config.idl; manual:
 * reference/replica-configuration.
 */
import { uninitializedTerm } from '../optime.js'

export interface MemberConfig {
  /** `_id`: identifies the member across reconfigurations. */
  readonly id: number
  /** `host:port`. */
  readonly host: string
  readonly arbiterOnly: boolean
  readonly buildIndexes: boolean
  readonly hidden: boolean
  /** 0 to 1000. See {@link priorityOf}. */
  readonly priority: number
  /** In the order of the document. */
  readonly tags: readonly (readonly [name: string, value: string])[]
  /** Addresses for clients of other networks, by the name of the network. */
  readonly horizons: readonly (readonly [name: string, host: string])[]
  readonly delaySecs: number
  /** See {@link votesOf}. */
  readonly votes: 0 | 1
  /** The member does not vote and cannot be elected until its initial sync is done. */
  readonly newlyAdded: boolean
}

/** A mode of `getLastErrorModes`: for each tag the least number of distinct values. */
export type TagMode = readonly (readonly [tag: string, distinctValues: number])[]

/** `getLastErrorDefaults`. */
export interface DefaultWriteConcern {
  readonly w: number | string
  readonly wtimeout: number
  readonly sync: 'j' | 'fsync' | null
}

export interface ReplicaSetSettings {
  readonly chainingAllowed: boolean
  readonly heartbeatIntervalMs: number
  readonly heartbeatTimeoutMs: number
  readonly electionTimeoutMs: number
  /** -1: no limit; 0: no catch-up. */
  readonly catchUpTimeoutMs: number
  /** -1: never. */
  readonly catchUpTakeoverDelayMs: number
  /** Named write concerns, in the order of the document. */
  readonly modes: readonly (readonly [name: string, mode: TagMode])[]
  readonly defaultWriteConcern: DefaultWriteConcern
  /** ObjectId. Null: none, as in sets of old versions. */
  readonly replicaSetId: Uint8Array | null
}

export interface ReplicaSetConfig {
  readonly name: string
  readonly version: number
  /** Of the primary that made it; -1 before 4.4 and after a forced reconfiguration. */
  readonly term: number
  readonly members: readonly MemberConfig[]
  readonly settings: ReplicaSetSettings
  /** A majority acknowledges a write when it is durable there, not only applied. */
  readonly majorityJournals: boolean
  /** The set of a config server. */
  readonly configServer: boolean
}

/** Until a set is initiated, replies have this version. */
export const uninitializedVersion = -2

export const defaultSettings: ReplicaSetSettings = {
  chainingAllowed: true,
  heartbeatIntervalMs: 2000,
  heartbeatTimeoutMs: 10_000,
  electionTimeoutMs: 10_000,
  catchUpTimeoutMs: -1,
  catchUpTakeoverDelayMs: 30_000,
  modes: [],
  defaultWriteConcern: { w: 1, wtimeout: 0, sync: null },
  replicaSetId: null,
}

export interface ConfigVersion {
  readonly version: number
  readonly term: number
}

/** As in errors of the server. */
export const configVersionText = ({ version, term }: ConfigVersion): string => `{version: ${version}, term: ${term}}`

/** By term, then version; by version alone if a term is missing, as after a forced change. */
export function compareConfigVersions(a: ConfigVersion, b: ConfigVersion): number {
  if (a.term !== uninitializedTerm && b.term !== uninitializedTerm && a.term !== b.term) return a.term - b.term
  return a.version - b.version
}

export const votesOf = (member: MemberConfig): number => (member.newlyAdded ? 0 : member.votes)

export const priorityOf = (member: MemberConfig): number => (member.newlyAdded ? 0 : member.priority)

export const isVoter = (member: MemberConfig): boolean => votesOf(member) > 0

export const isElectable = (member: MemberConfig): boolean => !member.arbiterOnly && priorityOf(member) > 0

export const voterCount = ({ members }: ReplicaSetConfig): number => members.filter(isVoter).length

/** Votes that win an election. */
export const majorityVoteCount = (config: ReplicaSetConfig): number => Math.floor(voterCount(config) / 2) + 1

export const writableVoterCount = ({ members }: ReplicaSetConfig): number =>
  members.filter((member) => isVoter(member) && !member.arbiterOnly).length

/** Members that a majority write needs: never more than the voters with data. */
export const writeMajorityCount = (config: ReplicaSetConfig): number =>
  Math.min(majorityVoteCount(config), writableVoterCount(config))

/** Number of members with a higher priority: 0 for the highest. */
export const priorityRank = ({ members }: ReplicaSetConfig, priority: number): number =>
  members.filter((member) => priorityOf(member) > priority).length

const baseVoters = ({ members }: ReplicaSetConfig): number => members.filter(({ votes }) => votes > 0).length

const arbiters = ({ members }: ReplicaSetConfig): number => members.filter(({ arbiterOnly }) => arbiterOnly).length

/** Primary, secondary and arbiter. */
export const isPsa = (config: ReplicaSetConfig): boolean =>
  config.members.length === 3 && baseVoters(config) === 3 && arbiters(config) === 1

/** Writable voters, and votes that win an election, with newly added members counted. */
export const baseQuorums = (config: ReplicaSetConfig): { readonly writable: number; readonly majority: number } => ({
  writable: baseVoters(config) - arbiters(config),
  majority: Math.floor(baseVoters(config) / 2) + 1,
})

/**
 * Since 5.0 the write concern of clients that name none. Without arbiters always majority; with
 * arbiters only if more members have data than a majority of votes needs.
 */
export const isImplicitMajority = (config: ReplicaSetConfig): boolean =>
  voterCount(config) === writableVoterCount(config) || writableVoterCount(config) > majorityVoteCount(config)
