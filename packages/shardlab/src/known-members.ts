import type { LiveMember, NumberedDelta } from '@shardlab/dashboard'
import { withMoreHosts } from './hosts-of-uri.js'
import { loginInUri, withLogin } from './login-of-uri.js'

const rolesWithUsers: ReadonlySet<string> = new Set(['mongos', 'config-server'])

/**
 * Members that the live stream has named. Each of them takes the command `shardlab`, so that a
 * fault can be healed that has ended all routers of the URI. A login works on the config server,
 * too: it has the users of the cluster.
 */
export class KnownMembers {
  readonly #given: string
  readonly #hasLogin: boolean
  readonly #members: Map<string, LiveMember>

  /** @param uri of routers @param members those of other pages */
  constructor(uri: string, members = new Map<string, LiveMember>()) {
    this.#given = uri
    this.#hasLogin = loginInUri(uri) !== null
    this.#members = members
  }

  /** For a page with its own login: what one page learns, all know. */
  withLogin(login: Parameters<typeof withLogin>[1]): KnownMembers {
    return new KnownMembers(withLogin(this.#given, login), this.#members)
  }

  note(deltas: readonly NumberedDelta[]): void {
    for (const delta of deltas)
      if (delta.type === 'member') this.#members.set(delta.member.address, delta.member)
      else if (delta.type === 'member-removed') this.#members.delete(delta.address)
  }

  /** The hosts that were given are the first. */
  get uri(): string {
    return this.#uriWith(({ role }) => !this.#hasLogin || rolesWithUsers.has(role))
  }

  get routersUri(): string {
    return this.#uriWith(({ role }) => role === 'mongos')
  }

  get areRoutersDown(): boolean {
    const routers = [...this.#members.values()].filter(({ role }) => role === 'mongos')
    return routers.length > 0 && routers.every(({ state }) => state !== 'running')
  }

  #uriWith(isWanted: (member: LiveMember) => boolean): string {
    const isReachable = ({ address, endpoint }: LiveMember): boolean => !endpoint.startsWith(`${address}:`)
    const wanted = [...this.#members.values()].filter((member) => isReachable(member) && isWanted(member))
    return withMoreHosts(
      this.#given,
      wanted.map(({ endpoint }) => endpoint),
    )
  }
}
