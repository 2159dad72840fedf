import type { NumberedDelta } from '@shardlab/dashboard'
import { withMoreHosts } from './hosts-of-uri.js'
import { loginInUri } from './login-of-uri.js'

/**
 * Members that the live stream has named. Each of them takes the command `shardlab`, so that a
 * fault can be healed that has ended all routers of the URI.
 */
export class KnownMembers {
  readonly routersUri: string
  /** Users of the cluster are no users of its shards. */
  readonly #hasLogin: boolean
  readonly #endpoints = new Map<string, string>()

  /** @param uri of routers */
  constructor(uri: string) {
    this.routersUri = uri
    this.#hasLogin = loginInUri(uri) !== null
  }

  note(deltas: readonly NumberedDelta[]): void {
    for (const delta of deltas)
      if (delta.type === 'member') this.#add(delta.member)
      else if (delta.type === 'member-removed') this.#endpoints.delete(delta.address)
  }

  /** The hosts that were given are the first. */
  get uri(): string {
    return this.#hasLogin ? this.routersUri : withMoreHosts(this.routersUri, [...this.#endpoints.values()])
  }

  #add({ address, endpoint }: { readonly address: string; readonly endpoint: string }): void {
    // Otherwise it is a name, because clients cannot reach the member.
    if (!endpoint.startsWith(`${address}:`)) this.#endpoints.set(address, endpoint)
  }
}
