import { CommandError, type DocumentWriter } from '@shardlab/bson'
import type { FieldSpecs } from './argument-types.js'

/** The members to which a router sends a command. */
export type CommandRouting =
  /** Answered by the member itself. */
  | 'local'
  /**
   * To the shards that own the shard keys of its documents or filter; for unsharded collections to
   * the primary shard.
   */
  | 'shard-key'
  /** To the primary shard of the database. */
  | 'primary-shard'
  /** To every shard that owns chunks, or to every shard. */
  | 'all-shards'
  /** To the config server, or through it. */
  | 'config-server'
  /** To the members that a cursor reads from. */
  | 'cursor'

/**
 * One command of one role: a row of its command table, in a file of its own under `commands/`. The
 * compatibility page is generated from the rows (law 7).
 */
export interface CommandRow<Invocation> {
  readonly name: string
  /** Other names of the command on the server, the lower-case ones of old clients among them. */
  readonly aliases?: readonly string[]
  readonly routing: CommandRouting
  readonly access: 'read' | 'write' | 'admin' | 'none'
  /**
   * Whether it runs on the `admin` database only; on others it gets the server's error 13
   * Unauthorized.
   */
  readonly adminOnly?: boolean
  /** Page of the manual, without host and extension: `reference/command/find`. */
  readonly manual: string
  /** `full`: neither {@link missing} nor {@link lacks}. */
  readonly status: 'full' | 'partial'
  /** One phrase with the parts that are refused with an error. */
  readonly missing?: string
  /**
   * One phrase with the parts of the server's answer or effect that are silently missing. A strict
   * member refuses the command.
   */
  readonly lacks?: string
  /** One sentence that says what the command does. */
  readonly summary: string
  /**
   * The arguments besides the generic ones; unknown ones are refused. Absent: any argument is
   * accepted, as by the server.
   */
  readonly fields?: FieldSpecs
  /**
   * Arguments that {@link fields} does not have are ignored, because the server's parser of this
   * command is not strict.
   */
  readonly ignoresUnknownFields?: true
  /** Whether it can be a retryable write (`txnNumber`). */
  readonly retryable?: boolean
  /**
   * The behaviour that is true in versions that have this command; absent: all versions have it.
   */
  readonly behaviour?: string
  /** Whether it is in version 1 of the Stable API. Manual: reference/stable-api. */
  readonly apiVersion1?: boolean
  /** Whether it is deprecated there, and so refused for clients with `apiDeprecationErrors`. */
  readonly apiDeprecated?: boolean
  /**
   * Returns the fields of the reply without `ok` and the times, which the dispatcher adds.
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

/** A command table: every name and alias to its row. */
export class CommandTable<Invocation> {
  readonly rows: readonly CommandRow<Invocation>[]
  readonly #byName = new Map<string, CommandRow<Invocation>>()

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
   * Names are case-sensitive, as on the server. A command that the emulated version does not have
   * is not found.
   */
  find(name: string, behaviours: Readonly<Record<string, unknown>> = {}): CommandRow<Invocation> | undefined {
    const row = this.#byName.get(name)
    return row?.behaviour === undefined || behaviours[row.behaviour] === true ? row : undefined
  }
}
