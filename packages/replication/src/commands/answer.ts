import { CommandError, type DocumentWriter } from '@shardlab/bson'
import type { ProtocolState } from '../state/protocol-state.js'

/** Fields of the reply, to which the host adds ok and the times; or the error. */
export type CommandAnswer = DocumentWriter | CommandError

/** Every command about the set but replSetInitiate, before anything else. */
export const uninitializedFault = ({ config }: ProtocolState): CommandError | null =>
  config === null ? new CommandError('NotYetInitialized', 'no replset config has been received') : null
