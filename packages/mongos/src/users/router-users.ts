/**
 * The users of a cluster are on the config server. A router caches those that it needs. Server:
 * authz_manager_external_state_s.cpp, user_cache_invalidator_job.cpp.
 */
import { configAddress, unversioned } from '@shardlab/actor'
import { parsePrivileges, readRoleName, readUser, userKey, type UserName } from '@shardlab/auth'
import { BsonType, CommandError, DocumentWriter, elementsOf, FieldIterator, findField, sameBytes } from '@shardlab/bson'
import {
  accessRulesOf,
  completeWriteConcern,
  parseWriteConcern,
  type FoundUser,
  type UserCommand,
  type UserSource,
} from '@shardlab/member'
import { formatDocument } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import type { MongosInvocation, RoutingHost } from '../host/mongos-host.js'
import { documentsIn, replyError } from '../remote/command-reply.js'
import type { RemoteCommand } from '../remote/remote.js'
import { configCommand, passThrough } from '../routing/primary.js'

const reading: ReadonlySet<UserCommand> = new Set(['usersInfo', 'rolesInfo'])

export class RouterUsers implements UserSource {
  readonly #host: RoutingHost
  readonly #users = new Map<string, FoundUser>()
  #generation = 0
  /** Of the config server as last known; null: not known yet. */
  #known: Uint8Array | null = null
  /** Once true it stays true, as on the server. */
  #hasAny = false

  constructor(host: RoutingHost) {
    this.#host = host
  }

  get generation(): number {
    return this.#generation
  }

  find(name: UserName): FoundUser | null | Promise<FoundUser | null> {
    return this.#users.get(userKey(name)) ?? this.#read(name)
  }

  async #read(name: UserName): Promise<FoundUser | null> {
    const generation = this.#generation
    const body = new DocumentWriter(192)
      .startDocument('usersInfo')
      .string('user', name.user)
      .string('db', name.db)
      .end()
      .bool('showPrivileges', true)
      .bool('showCredentials', true)
    if (accessRulesOf(this.#host.behaviours).has('authenticationRestrictions'))
      body.bool('showAuthenticationRestrictions', true)
    const [document] = documentsIn(await this.#ask(body.string('$db', 'admin')), 'users')
    if (document === undefined) return null
    const found = this.#parse(new Uint8Array(document))
    // A change that came while the reply was on its way is not in it.
    if (generation === this.#generation) this.#cache(userKey(name), found)
    return found
  }

  #parse(document: Uint8Array): FoundUser {
    const rules = accessRulesOf(this.#host.behaviours)
    const list = (field: string) => {
      const value = findField(document, field)
      return value === undefined ? [] : elementsOf(value)
    }
    const user = readUser(document)
    return {
      user,
      roles: list('inheritedRoles').map((each) => readRoleName(each, user.name.db)),
      privileges: parsePrivileges(findField(document, 'inheritedPrivileges')!, rules),
      restrictions: list('inheritedAuthenticationRestrictions'),
    }
  }

  #cache(key: string, found: FoundUser): void {
    const { cachedUsersMax } = this.#host.limits
    if (this.#users.size >= cachedUsersMax) {
      this.#host.limitReached('cachedUsersMax', cachedUsersMax)
      this.#users.delete(this.#users.keys().next().value!)
    }
    this.#users.set(key, found)
  }

  /** True if the config server does not reply: without users nothing would be protected. */
  hasAny(): boolean | Promise<boolean> {
    return this.#hasAny || this.#askForAny()
  }

  async #askForAny(): Promise<boolean> {
    try {
      for (const collection of ['system.users', 'system.roles']) {
        const reply = await this.#ask(
          new DocumentWriter(64).string('count', collection).int32('limit', 1).string('$db', 'admin'),
        )
        if (findField(reply, 'n')!.asNumber() > 0) return (this.#hasAny = true)
      }
      return false
    } catch (error) {
      if (error instanceof CommandError) return true
      throw error
    }
  }

  async #ask(body: DocumentWriter): Promise<Uint8Array> {
    const { body: reply } = await this.#host.remote.command(
      configAddress,
      unversioned('admin', body.finish()),
      null,
      true,
    )
    const error = replyError(reply)
    if (error !== null) throw error
    return reply
  }

  invalidate(): void {
    this.#generation++
    this.#users.clear()
  }

  /** Of a ping. */
  learnGeneration(generation: Uint8Array): void {
    if (this.#known !== null && sameBytes(this.#known, generation)) return
    this.#known = generation.slice()
    // Also the first time: users may have been read before the first ping.
    this.invalidate()
  }
}

/** Through this router a change is visible at once, even if the reply is lost. */
export async function runUserCommand(command: UserCommand, invocation: MongosInvocation): Promise<DocumentWriter> {
  if (reading.has(command)) return passThrough(invocation, configAddress, configCommand(invocation), true)
  try {
    return await passThrough(invocation, configAddress, majorityCommand(invocation), false)
  } finally {
    invocation.host.users.invalidate()
  }
}

/**
 * A router that reads the change later may read it from a new primary. Server:
 * runUserManagementWriteCommand of sharding_catalog_client_impl.cpp.
 * @throws CommandError 72 InvalidOptions for a write concern with another `w` than 1 or `majority`
 */
function majorityCommand({ db, body, host }: MongosInvocation): RemoteCommand {
  const given = findField(body, 'writeConcern')
  if (given?.type === BsonType.object) checkWriteConcern(given.slice(), host.behaviours)
  const writer = new DocumentWriter(body.length + 96)
  for (const it = new FieldIterator(body); it.next();)
    if (it.name() !== 'writeConcern') writer.value(it.name(), it.value())
  writer.startDocument('writeConcern').string('w', 'majority')
  const timeout = given?.type === BsonType.object ? findField(given.slice(), 'wtimeout') : undefined
  if (timeout !== undefined) writer.value('wtimeout', timeout)
  return unversioned(db, writer.end().finish())
}

function checkWriteConcern(document: Uint8Array, behaviours: Behaviours): void {
  const w = parseWriteConcern(document, behaviours)?.w ?? 1
  if (w === 1 || w === 'majority') return
  throw new CommandError(
    'InvalidOptions',
    `Invalid replication write concern. User management write commands may only use w:1 or w:'majority', got: ${formatDocument(completeWriteConcern(document))}`,
  )
}
