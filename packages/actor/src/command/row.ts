import { CommandError, type DocumentWriter } from '@shardlab/bson'
import type { FieldSpecs } from './argument-types.js'

/** Where a router sends a command. */
export type CommandRouting =
  /** Answered by the member itself. */
  | 'local'
  /** To the shards that the shard key of its documents or filter points at; the primary shard for unsharded collections. */
  | 'shard-key'
  /** To the primary shard of the database. */
  | 'primary-shard'
  /** To every shard that owns chunks, or to every shard. */
  | 'all-shards'
  /** To the config server, or by way of it. */
  | 'config-server'
  /** To the members that the cursor reads from. */
  | 'cursor'

/**
 * One command of one role: its place in the command table. Each lives in a file of its own under `commands/`;
 * the compatibility page is generated from the rows (law 7).
 */
export interface CommandRow<Invocation> {
  readonly name: string
  /** Other names under which the server registers it, the lower-case ones of old clients among them. */
  readonly aliases?: readonly string[]
  readonly routing: CommandRouting
  readonly access: 'read' | 'write' | 'admin' | 'none'
  /** Only on the `admin` database; elsewhere Unauthorized 13 as the server says it. */
  readonly adminOnly?: boolean
  /** Page of the manual, without host and extension: `reference/command/find`. */
  readonly manual: string
  /** `full`: neither {@link missing} nor {@link lacks}. */
  readonly status: 'full' | 'partial'
  /** What is refused with an error when a client asks for it, one phrase. */
  readonly missing?: string
  /** What the answer or the effect silently has less of than the server's, one phrase. A strict member refuses the whole command. */
  readonly lacks?: string
  /** What it does, one sentence. */
  readonly summary: string
  /** The arguments beside the generic ones; an unknown one is refused. Absent: any argument is accepted, as the server does for this command. */
  readonly fields?: FieldSpecs
  /** Arguments that {@link fields} does not name are ignored, as by the server's parser of this command, which is not strict. */
  readonly ignoresUnknownFields?: true
  /** Whether a retryable write (`txnNumber`) may name it. */
  readonly retryable?: boolean
  /** Name of the behaviour that says whether the emulated version has this command; absent: all of them have. */
  readonly behaviour?: string
  /** Is it in version 1 of the Stable API? Manual: reference/stable-api. */
  readonly apiVersion1?: boolean
  /** Is it deprecated there? Then it is refused where a client wants errors for that. */
  readonly apiDeprecated?: boolean
  /**
   * Answers with the reply's fields but `ok` and the times, which the dispatcher adds.
   * @throws CommandError for everything a client did wrong.
   */
  run(invocation: Invocation): Promise<DocumentWriter> | DocumentWriter
}

/**
 * What a strict member says to a command whose answer would silently be less than the server's. What a command refuses
 * by itself is no reason: a client that asks for it is told.
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

  /** Names are case-sensitive, as on the server. A command that the emulated version does not have is not found. */
  find(name: string, behaviours: Readonly<Record<string, unknown>> = {}): CommandRow<Invocation> | undefined {
    const row = this.#byName.get(name)
    return row?.behaviour === undefined || behaviours[row.behaviour] === true ? row : undefined
  }
}
