import type { LiveMember, NumberedDelta } from '@shardlab/dashboard'
import { withMoreHosts } from './hosts-of-uri.js'
import { loginInUri } from './login-of-uri.js'

const rolesWithUsers: ReadonlySet<string> = new Set(['mongos', 'config-server'])

/**
 * Members that the live stream has named. Each of them takes the command `shardlab`, so that a
 * fault can be healed that has ended all routers of the URI. A login works on the config server,
 * too: it has the users of the cluster.
 */
export class KnownMembers {
  readonly routersUri: string
  readonly #hasLogin: boolean
  readonly #endpoints = new Map<string, string>()
  /** States by name. */
  readonly #routers = new Map<string, LiveMember['state']>()

  /** @param uri of routers */
  constructor(uri: string) {
    this.routersUri = uri
    this.#hasLogin = loginInUri(uri) !== null
  }

  note(deltas: readonly NumberedDelta[]): void {
    for (const delta of deltas)
      if (delta.type === 'member') this.#add(delta.member)
      else if (delta.type === 'member-removed') {
        this.#endpoints.delete(delta.address)
        this.#routers.delete(delta.address)
      }
  }

  /** The hosts that were given are the first. */
  get uri(): string {
    return withMoreHosts(this.routersUri, [...this.#endpoints.values()])
  }

  get areRoutersDown(): boolean {
    return this.#routers.size > 0 && [...this.#routers.values()].every((state) => state !== 'running')
  }

  #add({ address, endpoint, role, state }: LiveMember): void {
    if (role === 'mongos') this.#routers.set(address, state)
    const isReachable = !endpoint.startsWith(`${address}:`)
    if (isReachable && (!this.#hasLogin || rolesWithUsers.has(role))) this.#endpoints.set(address, endpoint)
  }
}
