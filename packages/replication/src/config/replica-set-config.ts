/**
 * The configuration of a replica set, as parsed from `local.system.replset`. Server:
 * repl_set_config.idl, member_config.idl; manual: reference/replica-configuration.
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
  readonly delaySecs: number
  /** See {@link votesOf}. */
  readonly votes: 0 | 1
  /** The member does not vote and cannot be elected until its initial sync is done. */
  readonly newlyAdded: boolean
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
  /** The document as stored and shown. */
  readonly document: Uint8Array
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
