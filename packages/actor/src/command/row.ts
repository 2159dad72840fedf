import { CommandError, type DocumentWriter } from '@shardlab/bson'
import type { FieldSpecs, HandwrittenParser } from './argument-types.js'
import type { CommandArguments, UnknownFields } from './arguments.js'
import type { CommandPrivileges } from './privileges.js'

export type CommandRouting =
  | 'local'
  /** To the owners of its documents' or filter's shard keys; unsharded: to the primary shard. */
  | 'shard-key'
  | 'primary-shard'
  /** To every shard that owns chunks, or to every shard. */
  | 'all-shards'
  /** To the config server, or through it. */
  | 'config-server'
  | 'cursor'

/**
 * One row of a role's command table, in a file of its own under `commands/`. The compatibility page
 * is generated from the rows (law 7).
 */
export interface CommandRow<Invocation> {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly routing: CommandRouting
  readonly access: 'read' | 'write' | 'admin' | 'none'
  /** What the client needs, with access control. Without a default: no command may lack it. */
  readonly privileges: CommandPrivileges
  /** Fields with secrets: operations and the log show `xxx`. Absent: none. */
  readonly sensitive?: readonly string[]
  /** On other databases the command gets the server's error 13 Unauthorized. */
  readonly adminOnly?: boolean
  /** Page of the manual, without host and extension: `reference/command/find`. */
  readonly manual: string
  /** `full`: no {@link missing}, {@link lacks} or {@link deviations}. */
  readonly status: 'full' | 'partial'
  /** The parts that are refused with an error, as one phrase. */
  readonly missing?: string
  /**
   * The parts of the server's answer or effect that are silently missing, as one phrase. A strict
   * member refuses the command.
   */
  readonly lacks?: string
  /** Numbers in docs/reference/deviations.md, such as D302. */
  readonly deviations?: readonly string[]
  readonly summary: string
  /**
   * Besides the generic arguments; unknown ones are refused. Absent: any are accepted, as by the
   * server.
   */
  readonly fields?: FieldSpecs
  /** Further ones in requests of members, in versions that have them in no request of a client. */
  readonly memberFields?: FieldSpecs
  /** Absent: refused, as by generated parsers. */
  readonly unknownFields?: UnknownFields
  /** Absent: arguments are checked as by generated parsers. */
  readonly handwritten?: HandwrittenParser
  readonly retryable?: boolean
  /** A behaviour that is true in versions with this command; absent: all versions have it. */
  readonly behaviour?: string
  /**
   * Whether the command is killed when its client closes the connection. Absent: it continues.
   * Server: `handleMarkKillOnClientDisconnect`.
   */
  readonly endsWithClient?: true | ((args: CommandArguments) => boolean)
  /** It can leave a cursor open, whose getMore checks the privileges of the command again. */
  readonly opensCursor?: true
  /** In version 1 of the Stable API. Manual: reference/stable-api. */
  readonly apiVersion1?: boolean
  /** Deprecated there, and refused for clients with `apiDeprecationErrors`. */
  readonly apiDeprecated?: boolean
  /**
   * The reply has neither `ok` nor the times, which the dispatcher adds.
   * @throws CommandError for every error of the client
   */
  run(invocation: Invocation): Promise<DocumentWriter> | DocumentWriter
}

/**
 * Refuses a command on a strict member when a part of the server's answer is silently missing.
 * Parts that the command refuses itself do not matter: their clients get an error.
 * @throws CommandError 115 CommandNotSupported
 */
export function refuseLacking({ name, lacks }: Pick<CommandRow<never>, 'name' | 'lacks'>): void {
  if (lacks !== undefined)
    throw new CommandError('CommandNotSupported', `${name} is refused in strict mode, as it lacks ${lacks}`)
}

export class CommandTable<Invocation> {
  readonly rows: readonly CommandRow<Invocation>[]
  readonly #byName = new Map<string, CommandRow<Invocation>>()
  readonly #adapted = new WeakMap<object, CommandTable<Invocation>>()

  constructor(rows: readonly CommandRow<Invocation>[]) {
    this.rows = rows
    for (const row of rows) {
      for (const name of [row.name, ...(row.aliases ?? [])]) {
        if (this.#byName.has(name)) throw new Error(`two rows of the command table are named ${name}`)
        this.#byName.set(name, row)
      }
    }
  }

  /**
   * The same table with other rows, made once: a process may run a hundred members.
   * @param key identifies the adaptation
   */
  adapted(key: object, adapt: (row: CommandRow<Invocation>) => CommandRow<Invocation>): CommandTable<Invocation> {
    let table = this.#adapted.get(key)
    if (table === undefined) this.#adapted.set(key, (table = new CommandTable(this.rows.map(adapt))))
    return table
  }

  /**
   * Case-sensitive, as on the server. Commands that the emulated version does not have are not
   * found.
   */
  find(name: string, behaviours: Readonly<Record<string, unknown>> = {}): CommandRow<Invocation> | undefined {
    const row = this.#byName.get(name)
    return row?.behaviour === undefined || behaviours[row.behaviour] === true ? row : undefined
  }
}
