/** What a client needs to run a command. Manual: reference/privilege-actions. */
import type { AccessRules, CommandAccess } from '@shardlab/auth'
import type { CommandArguments } from './arguments.js'

/**
 * `database`: the command's; `namespace`: the collection that the command names, or its database if
 * it names none. For administration, the command's own field names another one: `named database`,
 * `named namespace`.
 */
export type NeededResource = 'cluster' | 'database' | 'namespace' | 'named database' | 'named namespace'

export interface NeededPrivilege {
  readonly on: NeededResource
  /** All of them. */
  readonly actions: readonly string[]
}

/** A command that a client sends to a member with access control. */
export interface AccessQuestion {
  readonly command: string
  readonly db: string
  readonly body: Uint8Array
  readonly args: CommandArguments
  readonly sequences: readonly (readonly [string, readonly Uint8Array[]])[]
  readonly access: CommandAccess
  readonly rules: AccessRules
  readonly isRouter: boolean
  /** Whether one of the client's users runs this operation of the member. */
  readonly ownsOperation: (id: number) => boolean
  /** `db.collection`; null: none has it, and on a router. */
  readonly namespaceOfUuid: (uuid: Uint8Array) => string | null
  /** The privileges of another command. Undefined: no command has this name. */
  readonly privilegesOf: (command: string) => CommandPrivileges | undefined
}

/**
 * `none`: a client needs no user. `user`: any user. A function returns false, or throws
 * Unauthorized, for a command that the client may not run.
 */
export type CommandPrivileges = 'none' | 'user' | readonly NeededPrivilege[] | ((question: AccessQuestion) => boolean)
