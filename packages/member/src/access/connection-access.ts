/** Server: authorization_session_impl.cpp. */
import {
  clusterResource,
  fullUserName,
  PrivilegeSet,
  roleKey,
  userDigest,
  userKey,
  type AccessRules,
  type CommandAccess,
  type Privilege,
  type RoleName,
  type ScramConversation,
  type UserName,
} from '@shardlab/auth'
import { CommandError, sameBytes } from '@shardlab/bson'
import type { FoundUser, UserSource } from './user-source.js'

/** A login that has begun. */
export interface ScramExchange {
  readonly db: string
  readonly scram: ScramConversation
  /** Null: the first message has no name yet. */
  user: string | null
}

export interface AuthenticatedUser {
  readonly name: UserName
  /** Null: of a release without them. */
  readonly userId: Uint8Array | null
  /** With inherited ones. */
  readonly roles: readonly RoleName[]
  readonly privileges: readonly Privilege[]
}

/** The users of one connection of a client. */
export class ConnectionAccess implements CommandAccess {
  readonly #rules: AccessRules
  /** Before 6.0 one of each database, since then one. */
  #users: readonly AuthenticatedUser[] = []
  #names: readonly UserName[] = []
  #privileges: PrivilegeSet
  /** Of the name of a single user; null: not computed since the users have changed. */
  #digest: Uint8Array | null = null
  /** Undefined: not asked since the users have changed. */
  #advancesClock: boolean | undefined
  /** Of the source when the users were read. */
  #generation = -1
  /** Null: no login has begun, or it has ended. */
  exchange: ScramExchange | null = null
  /** hello has asked for the mechanisms of a user, and no login has begun since. */
  isAnnounced = false

  constructor(rules: AccessRules) {
    this.#rules = rules
    this.#privileges = new PrivilegeSet([], rules)
  }

  get users(): readonly AuthenticatedUser[] {
    return this.#users
  }

  /** Another array after each change. */
  get names(): readonly UserName[] {
    return this.#names
  }

  get privileges(): PrivilegeSet {
    return this.#privileges
  }

  /** Asked for each command. */
  get advancesClock(): boolean {
    return (this.#advancesClock ??= this.#privileges.allows(clusterResource, 'advanceClusterTime'))
  }

  /**
   * Of the user, in its ids of sessions.
   * @throws CommandError Unauthorized with several users or none
   */
  get digest(): Uint8Array {
    return (this.#digest ??= userDigest(this.#single()))
  }

  #single(): UserName {
    const [name, ...others] = this.#names
    if (name === undefined) throw new CommandError('Unauthorized', 'there are no users authenticated')
    if (others.length === 0) return name
    throw new CommandError(
      'Unauthorized',
      "logical sessions can't have multiple authenticated users (for more details see: https://docs.mongodb.com/manual/core/authentication/#authentication-methods)",
    )
  }

  get roles(): RoleName[] {
    const roles = this.#users.flatMap((user) => user.roles)
    return [...new Map(roles.map((role) => [roleKey(role), role])).values()]
  }

  isUser(name: UserName): boolean {
    return this.#users.some((user) => userKey(user.name) === userKey(name))
  }

  hasRole(role: RoleName): boolean {
    return this.#users.some(({ roles }) => roles.some((each) => roleKey(each) === roleKey(role)))
  }

  /**
   * @param generation of the source when the user was read
   * @throws CommandError 5626701, 5626702 for a second user, 5626703
   */
  logIn(found: FoundUser, generation: number, isStrict: boolean): void {
    const { name } = found.user
    this.#checkOneUser(name, isStrict)
    // Users that were read before are read again before the next command.
    this.#generation = this.#users.length === 0 ? generation : -1
    this.#set([...this.#users.filter((user) => user.name.db !== name.db), authenticated(found)])
  }

  #checkOneUser(name: UserName, isStrict: boolean): void {
    const [previous] = this.#users
    if (previous === undefined) return
    const isSame = this.#users.some((user) => userKey(user.name) === userKey(name))
    if (this.#rules.has('oneUser') && !isSame) {
      if (previous.name.db === name.db)
        throw new CommandError(
          5626701,
          `Each client connection may only be authenticated once. Previously authenticated as: ${fullUserName(previous.name)}`,
        )
      throw new CommandError(
        5626702,
        `Client has attempted to authenticate on multiple databases.Already authenticated as: ${fullUserName(previous.name)}`,
      )
    }
    if (isStrict) throw new CommandError(5626703, 'Each client connection may only be authenticated once')
  }

  /** In a copy of the process: its users may be other ones. */
  expire(): void {
    this.#generation = -1
    this.exchange = null
  }

  /** Another login has begun. */
  endExchange(): void {
    this.exchange = null
    this.isAnnounced = false
  }

  /** hello has asked for the mechanisms of a user. */
  announce(): void {
    if (this.#rules.has('continuationNeedsStart')) this.exchange = null
    this.isAnnounced = true
  }

  logOut(db: string): void {
    this.#set(this.#users.filter((user) => user.name.db !== db))
  }

  /**
   * Reads the users again if they may have changed. Dropped ones are logged out, and those that may
   * not log in from the client's address any more; a user that was dropped and created again is
   * another one. If the source fails, the users stay as they were.
   * @returns null: the users are current
   */
  refresh(source: UserSource, isAddressAllowed: (user: FoundUser) => boolean): Promise<void> | null {
    const { generation } = source
    if (this.#users.length === 0 || this.#generation === generation) return null
    const found = this.#users.map(({ name }) => source.find(name))
    const known = found.filter((each): each is FoundUser | null => !(each instanceof Promise))
    if (known.length < found.length) return this.#renewLater(found, generation, isAddressAllowed)
    this.#renew(known, generation, isAddressAllowed)
    return null
  }

  async #renewLater(
    found: readonly (FoundUser | null | Promise<FoundUser | null>)[],
    generation: number,
    isAddressAllowed: (user: FoundUser) => boolean,
  ): Promise<void> {
    const known: (FoundUser | null)[] = []
    try {
      for (const each of found) known.push(await each)
    } catch (error) {
      if (error instanceof CommandError) return
      throw error
    }
    this.#renew(known, generation, isAddressAllowed)
  }

  #renew(
    found: readonly (FoundUser | null)[],
    generation: number,
    isAddressAllowed: (user: FoundUser) => boolean,
  ): void {
    this.#generation = generation
    this.#set(
      this.#users.flatMap((user, i) => {
        const now = found[i]
        if (now === null || now === undefined || !isSameUser(user, now)) return []
        return isAddressAllowed(now) ? [authenticated(now)] : []
      }),
    )
  }

  #set(users: readonly AuthenticatedUser[]): void {
    this.#users = users
    this.#names = users.map(({ name }) => name)
    this.#digest = null
    this.#advancesClock = undefined
    this.#privileges = new PrivilegeSet(
      users.flatMap(({ privileges }) => privileges),
      this.#rules,
    )
  }
}

function authenticated({ user: { name, userId }, roles, privileges }: FoundUser): AuthenticatedUser {
  return { name, userId, roles, privileges }
}

function isSameUser({ userId }: AuthenticatedUser, { user }: FoundUser): boolean {
  return userId === null || user.userId === null || sameBytes(userId, user.userId)
}
