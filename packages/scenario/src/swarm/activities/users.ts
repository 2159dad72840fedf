/**
 * The cluster has access control: all clients log in as an administrator, and this activity changes
 * other users. An acknowledged change of a user must last.
 */
import type { Random } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import type { Login } from '@shardlab/cluster'
import type { Code } from '../client/errors.js'
import type { SwarmClient } from '../client/swarm-client.js'
import { pick } from '../draw.js'
import { Activity } from './activity.js'
import { codes } from './codes.js'

const changesMax = 20
/** Routers read users again after 30 seconds. */
const cachedMs = 35_000
const names = ['ada', 'ben', 'cem', 'dot'] as const
const roles = ['read', 'readWrite'] as const
const db = 'people'

interface User {
  readonly password: string
  readonly role: (typeof roles)[number]
}

export class Users extends Activity {
  readonly name = 'users'
  readonly #users = new Map<string, User>()
  /** A repeated command may have been executed later than the next ones. */
  readonly #uncertain = new Set<string>()

  async run(): Promise<void> {
    const { random: root, pace } = this.world
    const random = root.fork('users')
    const client = this.world.client('users')
    for (let i = 0; i < changesMax && pace.isAnyClientWorking; i++) {
      await this.#change(client, random, i)
      await client.pause(200)
    }
  }

  override async finish(): Promise<void> {
    await this.world.client('users at the end').wait(cachedMs)
    for (const name of names) if (!this.#uncertain.has(name)) await this.#check(name)
  }

  async #change(client: SwarmClient, random: Random, number: number): Promise<void> {
    const name = pick(random, names)
    const user = this.#users.get(name)
    if (user === undefined) {
      const created = { password: `secret ${number}`, role: pick(random, roles) }
      const command = { createUser: name, pwd: created.password, roles: [created.role], $db: db }
      await this.#do(client, name, command, [codes.userExists, codes.duplicateKey])
      this.#users.set(name, created)
      this.count('createUser')
    } else if (random.chance(1, 3)) {
      await this.#do(client, name, { dropUser: name, $db: db }, [codes.userNotFound])
      this.#users.delete(name)
      this.count('dropUser')
    } else {
      const changed = random.chance(1, 2)
        ? { ...user, password: `secret ${number}` }
        : { ...user, role: pick(random, roles) }
      const command = { updateUser: name, pwd: changed.password, roles: [changed.role], $db: db }
      await this.#do(client, name, command, this.#uncertain.has(name) ? [codes.userNotFound] : [])
      this.#users.set(name, changed)
      this.count('updateUser')
    }
  }

  async #do(client: SwarmClient, name: string, command: Document, settled: readonly Code[]): Promise<void> {
    const { attempts } = await client.untilDone(command, settled)
    if (attempts > 1) this.#uncertain.add(name)
  }

  async #check(name: string): Promise<void> {
    const user = this.#users.get(name)
    const found = await this.#mayDo({ user: name, password: user?.password ?? 'secret', source: db })
    const expected = user?.role ?? 'no user'
    if (found !== expected)
      this.world.verdicts.failed('durability', `${name} of ${db} is ${found} and should be ${expected}`)
  }

  async #mayDo(login: Login): Promise<string> {
    const client = this.world.client(`${login.user} at the end`, false, login)
    const reads = await client.untilDone({ find: 'letters', $db: db }, [codes.authenticationFailed])
    if (reads.code !== null) return 'no user'
    const writes = await client.untilDone({ insert: 'letters', documents: [{}], $db: db }, [codes.unauthorized])
    return writes.code === null ? 'readWrite' : 'read'
  }
}
