/** The command replSetInitiate. Server: processReplSetInitiate, validateConfigForInitiate. */
import { CommandError, DocumentWriter, emptyDocument, findField, sameBytes } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import { parseConfig } from '../config/document/parse-config.js'
import type { ReplicaSetConfig } from '../config/replica-set-config.js'
import {
  arbiterPriorityFault,
  configFault,
  memberIdText,
  missingSelfFault,
  unelectableFault,
  type ConfigChecker,
} from '../config/validate.js'
import { initialTerm, uninitializedTerm } from '../optime.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { customDefaultsFault } from './custom-defaults.js'

export interface InitiateOptions {
  readonly isConfigServer: boolean
  /** The ObjectId of the new set. */
  readonly replicaSetId: Uint8Array
}

/** Fields of the reply when the command has no configuration. */
export const defaultConfigReply = (selfHost: string): Uint8Array =>
  new DocumentWriter(128)
    .string('info2', 'no configuration specified. Using a default configuration for the set')
    .string('me', selfHost)
    .finish()

/** @returns the first configuration, to be checked by every member and stored; or why not */
export function initiate(
  state: ProtocolState,
  document: Uint8Array,
  { isConfigServer, replicaSetId }: InitiateOptions,
): ReplicaSetConfig | CommandError {
  const { rules, setName, selfHost } = state
  if (state.config !== null || state.storing !== null)
    return new CommandError('AlreadyInitialized', 'already initialized')
  const given = withDefaults(document, setName, selfHost)
  const invalid = (reason: string) => new CommandError('InvalidReplicaSetConfig', reason)
  let parsed
  try {
    parsed = parseConfig(given, rules)
  } catch (error) {
    if (error instanceof CommandError) return invalid(error.message)
    throw error
  }
  const config: ReplicaSetConfig = {
    ...parsed.config,
    term: rules.configTerm ? initialTerm : uninitializedTerm,
    configServer: findField(given, 'configsvr') === undefined ? isConfigServer : parsed.config.configServer,
    settings: { ...parsed.config.settings, replicaSetId },
  }
  const checker = { rules, selfHost: state.selfHostIn(config), isConfigServer }
  const fault =
    (parsed.config.settings.replicaSetId === null
      ? null
      : `replica set configuration cannot contain 'replicaSetId' field when called from replSetInitiate: ${formatDocument(given)}`) ??
    nameFault(config.name, setName, checker) ??
    parsed.fault ??
    configFault(config, checker) ??
    customDefaultsFault('initiate', config, rules) ??
    arbiterPriorityFault(config) ??
    newMemberFault(config, checker) ??
    (config.version === 1
      ? null
      : `Configuration used to initiate a replica set must  have version 1, but found ${config.version}`) ??
    missingSelfFault(config, checker) ??
    unelectableFault(config, checker)
  return fault === null ? config : invalid(fault)
}

function withDefaults(document: Uint8Array, setName: string, selfHost: string): Uint8Array {
  if (sameBytes(document, emptyDocument)) {
    return new DocumentWriter(128)
      .string('_id', setName)
      .int32('version', 1)
      .startArray('members')
      .startDocument('0')
      .int32('_id', 0)
      .string('host', selfHost)
      .end()
      .end()
      .finish()
  }
  if (findField(document, 'version') !== undefined) return document
  return new DocumentWriter(document.length + 16).fields(document).int32('version', 1).finish()
}

function nameFault(name: string, setName: string, { rules }: ConfigChecker): string | null {
  if (name === setName) return null
  return rules.replicationTexts === 'structured'
    ? `Rejecting initiate with a set name that differs from command line set name, initiate set name: ${name}, command line set name: ${setName}`
    : `Attempting to initiate a replica set with name ${name}, but command line reports ${setName}; rejecting`
}

function newMemberFault({ members }: ReplicaSetConfig, checker: ConfigChecker): string | null {
  const added = members.find(({ newlyAdded }) => newlyAdded)
  if (added === undefined) return null
  return (
    `Member ${added.host}, with _id ${memberIdText(added.id, checker)}, has a newlyAdded field, which is not valid ` +
    'for initial configuration of a replica set.'
  )
}
